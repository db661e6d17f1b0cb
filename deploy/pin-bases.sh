#!/usr/bin/env bash
# Pins the base images of a Dockerfile by the digests that they have now, and prints them, a line each: a release says what it was built on.
#   deploy/pin-bases.sh deploy/Dockerfile >base-images.txt
set -euo pipefail
dockerfile=$1
sed -n 's/^FROM \(--[^ ]* \)\{0,1\}\([^ ]*\).*/\2/p' "$dockerfile" | while read -r base; do
  digest=$(docker buildx imagetools inspect "$base" --format '{{.Manifest.Digest}}')
  case $digest in sha256:*) ;; *) echo "no digest of $base: $digest" >&2 && exit 1 ;; esac
  sed -i "s|^\(FROM .*\)$base\( .*\)\{0,1\}\$|\1$base@$digest\2|" "$dockerfile"
  echo "$base@$digest"
done
