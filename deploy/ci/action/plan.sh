#!/usr/bin/env bash
# Plans each workspace named in WORKSPACES (all in one plan when it is empty) into the folder OUT: NAME.md for the comment, NAME.json for the
# artifact. A plan that fails leaves its error in NAME.md, the others go on, and the exit code is the first failure. With RECORDED, a ledger with
# days of use, a simulation of past cycles follows the plan; without one that is no failure. It only ever plans.
set -uo pipefail
mkdir -p "$OUT"

plan() { # name of the files, flags
  local file="$OUT/$1" code
  shift
  capkeeper plan --output markdown --out "$file.json" "$@" >"$file.md" 2>"$file.err"
  code=$?
  cat "$file.err" >&2
  if [ "$code" != 0 ]; then
    # Indented, so that nothing in it is taken for Markdown; the last lines say what went wrong.
    {
      printf '### capkeeper: the plan%s failed\n\nExit code %s. No plan can be shown for this commit.\n\n' "${WORKSPACE:+ of $WORKSPACE}" "$code"
      tail -n 40 "$file.err" | cut -c 1-500 | sed 's/^/    /'
    } >"$file.md"
  elif [ -n "${RECORDED:-}" ]; then
    printf '\n' >>"$file.md"
    if ! capkeeper simulate --ledger "$RECORDED" --output markdown "$@" >>"$file.md" 2>"$file.err"; then
      printf 'Past cycles could not be simulated:\n\n' >>"$file.md"
      tail -n 10 "$file.err" | cut -c 1-500 | sed 's/^/    /' >>"$file.md"
    fi
    cat "$file.err" >&2
  fi
  rm -f "$file.err"
  return "$code"
}

failed=0
if [ -z "${WORKSPACES//[[:space:]]/}" ]; then
  WORKSPACE='' plan plan || failed=$?
else
  number=0
  for WORKSPACE in $WORKSPACES; do
    number=$((number + 1))
    plan "$(printf '%03d-%s' "$number" "${WORKSPACE//[^A-Za-z0-9._-]/_}")" --workspace "$WORKSPACE"
    code=$?
    [ "$failed" != 0 ] || failed=$code
  done
fi
exit "$failed"
