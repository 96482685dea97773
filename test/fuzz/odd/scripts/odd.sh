#!/bin/bash
# One odd thing, by the seed and the place of the operation.
chosen=$(echo "$seed $(ctx operation name) $(ctx operation retry-number)" | cksum | cut -d' ' -f1)
case $((chosen % 26)) in
  0) head -c 300000 /dev/urandom ;;
  1) head -c 300000 /dev/urandom >&2; exit 3 ;;
  2) printf 'half a line' ;;
  3) printf '\xff\xfe\x00\xed\xa0\x80\n\x1b[31mred\n\r\n'; exit 1 ;;
  4) head -c 3000000 /dev/zero | tr '\0' 'x' ;;
  5) for i in $(seq 1 5000); do echo "line $i"; done ;;
  6) trap '' TERM; sleep 30 & wait ;;
  7) kill -9 $$ ;;
  8) kill -SEGV $$ ;;
  9) (sleep 3; echo late) & ;;
  10) setsid sleep 3 & echo left ;;
  11) exec >&-; echo closed; exit 0 ;;
  12) yes | head -n 20000 ;;
  13) ctx instance runtime-properties "$(printf 'a%.0s' $(seq 1 500))" '@{"deep": [[[[[]]]]], "n": 1e400}' ;;
  14) ctx instance runtime-properties '@[' '@{' ; ctx instance runtime-properties a.b[99].c @1; ctx instance runtime-properties odd '@"\u0000\ud800"' ;;
  15) for i in 1 2 3 4 5; do ctx instance runtime-properties "k$i" "@$i" & done; wait ;;
  16) ctx returns '@{"__proto__": 1}'; ctx returns 2 ;;
  17) ctx returns "$(head -c 100000 /dev/zero | tr '\0' 'y')" ;;
  18) ctx abort-operation "$(printf '\x01\xff')" ;;
  19) ctx retry-operation '' '@{"retry_after": 1e-9}' ;;
  20) ctx retry-operation x '@{"retry_after": "soon"}'; ctx operation retry x @-1 ;;
  21) ctx get-resource ../../etc/passwd; ctx get-resource ''; ctx download-resource odd.txt '@{"target_path": "'"$TMPDIR"'/no/such"}'; ctx download-resource-and-render odd.txt ;;
  22) d=$(ctx local-deployment-workdir); mkfifo "$d/fifo"; ln -s / "$d/root"; touch "$d/"$'new\nline' "$d/"$'\xff'; mkdir -p "$d/a/b"; head -c 100000 /dev/zero > "$d/file" ;;
  23) echo "$secret"; echo -n "$secret" | base64; echo "x$secret" >&2; ctx send-event "$secret"; ctx logger error "$secret"; ctx abort-operation "$secret" ;;
  24) for i in 1 2 3; do curl -s -m 2 --data-binary "-5:x,$i" "$CTX_SOCKET_URL"; curl -s -m 2 -X PUT "$CTX_SOCKET_URL"; done ;;
  25) ctx; ctx ''; ctx instance; ctx node properties __proto__; ctx source instance id; ctx -j logger info; ctx send-event; ctx instance refresh @1 @2 ;;
esac
