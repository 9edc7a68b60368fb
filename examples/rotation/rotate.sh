#!/bin/sh
# rotate.sh COMMAND…: gives the access key $NAME a new value, and passes that value to the command, which stores it.
set -eu
new=$(python3 - <<'EOF'
import secrets, zlib
digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
def base62(number, length):
    return ''.join(digits[number // 62 ** place % 62] for place in reversed(range(length)))
text = 'mpk_' + base62(secrets.randbits(256), 43)
print(text + base62(zlib.crc32(text.encode()), 6))
EOF
)
request='header = "Authorization: Bearer %s"\ndata = "{\\"spec\\":{\\"key\\":\\"%s\\",\\"overlapSeconds\\":%d,\\"replace\\":true}}"\n'
answer=$(printf "$request" "$KEY" "$new" "${OVERLAP:-86400}" |
  curl -sS --fail-with-body --retry 3 --retry-all-errors --config - -H 'Content-Type: application/json' \
    "$KEYPLANE/apis/management.platform/v1/ownedaccesskeys/$NAME/rotate") || { echo "$answer" >&2; exit 1; }
printf %s "$new" | (unset KEY && "$@")
