#!/usr/bin/env bash
# What teams do without capkeeper: compare each declared cap with the service's, eight at a time, with curl and jq.
# Standard input: a line for each person, e-mail and cap. Variables: URL, KEY.
compare() {
  have=$(curl -sS "$URL/api/v1/GetUsageConfig" -H 'Content-Type: application/json' -d "{\"service_key\":\"$KEY\",\"user_email\":\"$1\"}" |
    jq -r '.addOnCreditCap // "none"')
  [ "$have" = "$2" ] || echo "$1: $have -> $2"
}
export -f compare
xargs -P 8 -L 1 bash -c 'compare "$0" "$1"'
