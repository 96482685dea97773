/** The program: found, downloaded (going on where a download was cut), checked and unpacked. */
export const downloadPart = `
choose_package() {
  VERSION=
  while read -r platform version digest size; do
    if [ "$platform" = "$PLATFORM" ]; then VERSION=$version DIGEST=$digest SIZE=$size; fi
  done <<LIST
$PACKAGES
LIST
  find_provided
  [ -n "$VERSION" ] || [ -n "$FOUND" ] ||
    fail 31 "the manager serves no package of the agent for $PLATFORM, or not yet" "a manager that has just started needs some seconds: then make a new script; else put the package into the manager's folder of packages (BATON_AGENT_PACKAGES)"
}

# find_provided: the program of an image (install_method: provided), or of BATON_AGENT_FILE.
find_provided() {
  FOUND=\${BATON_AGENT_FILE:-}
  if [ -n "$FOUND" ]; then
    [ -x "$FOUND" ] || fail 2 "BATON_AGENT_FILE is $FOUND, which is no program"
  elif [ "$PROVIDED" = yes ]; then
    for file in /opt/baton-agent/bin/baton-agent /usr/local/bin/baton-agent /usr/bin/baton-agent; do
      if [ -x "$file" ]; then FOUND=$file; break; fi
    done
    [ -n "$FOUND" ] || say "this image has no baton-agent; it is downloaded"
  fi
  [ -n "$FOUND" ] || return 0
  VERSION=$("$FOUND" version 2>/dev/null | sed 's/[^A-Za-z0-9._+-].*//;q')
  [ -n "$VERSION" ] || fail 34 "$FOUND does not say its version" "is it the program of the agent, for this processor?"
  say "using $FOUND, version $VERSION"
}

digest_of() {
  if has sha256sum; then sha256sum "$1" | cut -c1-64
  elif has openssl; then openssl dgst -sha256 -r "$1" | cut -c1-64
  elif has busybox; then busybox sha256sum "$1" | cut -c1-64
  else return 1
  fi
}

check_downloader() {
  [ -z "$FOUND" ] || return 0
  case "$PACKAGE_URL" in
    file://*) ;;
    *) has curl || has wget || fail 13 "neither curl nor wget is there to download the agent" "install one of them, or set BATON_AGENT_FILE to the program's file" ;;
  esac
  { has sha256sum || has openssl || has busybox; } ||
    fail 14 "neither sha256sum, openssl nor busybox is there to check the download" "install coreutils or openssl"
}

# fetch_from ADDRESS: one try. The certificate of the address is not asked for: the digest of this script decides.
fetch_from() {
  case "$1" in
    file://*) cp "\${1#file://}" "$PART"; return ;;
  esac
  if has curl; then
    curl -fsSLk --connect-timeout 10 --speed-limit 1 --speed-time 60 --max-filesize "$SIZE" \${PROXY:+-x "$PROXY"} -C - -o "$PART" "$1" 2>"$STAGE/why"
  elif [ -n "$PROXY" ]; then
    http_proxy=$PROXY https_proxy=$PROXY wget -q -T 60 --no-check-certificate -c -O "$PART" "$1" 2>"$STAGE/why"
  else
    wget -q -T 60 --no-check-certificate -c -O "$PART" "$1" 2>"$STAGE/why"
  fi
}

size_of() { [ -f "$1" ] && wc -c <"$1" | tr -d ' ' || echo 0; }

# is_whole: is the part the file? One that has all bytes and is another is removed: it would never become right.
is_whole() {
  [ "$(size_of "$PART")" -ge "$SIZE" ] || return 1
  [ "$(digest_of "$PART")" != "$DIGEST" ] || return 0
  rm -f "$PART"
  WRONG=yes
  return 1
}

download() {
  [ -z "$FOUND" ] || return 0
  PART=$STAGE/$PLATFORM-$DIGEST
  plan "download the agent $VERSION ($SIZE bytes)" || return 0
  for old in "$STAGE"/linux-*; do
    [ "$old" = "$PART" ] || rm -rf "$old"
  done
  check_room
  WRONG=no
  for try in 1 2 3 4 5; do
    ! is_whole || return 0
    for address in $PACKAGE_URL; do
      fetch_from "$address" && ! is_whole && [ "$WRONG" = no ] && continue
      ! is_whole || return 0
      say "try $try: $address: $(why)"
    done
    [ "$try" = 5 ] || sleep "$try"
  done
  download_failed
}

why() {
  if [ "$WRONG" = yes ]; then echo "the file is another one (sha256)"
  elif [ -s "$STAGE/why" ]; then tr '\\n' ' ' <"$STAGE/why"
  else echo "no answer, or an incomplete one"
  fi
}

download_failed() {
  [ "$WRONG" = no ] ||
    fail 32 "the downloaded file is not the one that the manager named (sha256 $DIGEST)" "is a proxy in between, or has the manager been upgraded? Make a new script"
  case "$(why)" in
    *404* | *410*) fail 31 "the manager serves no such package of the agent for $PLATFORM" "make a new script: the manager may have been upgraded" ;;
    *'write error'* | *'No space'* | *'Failed writing'*) fail 23 "there is not enough room for the download in $STAGE" "at least $((SIZE * 5 / 1024)) KiB are needed" ;;
  esac
  fail 30 "the agent cannot be downloaded from: $PACKAGE_URL" "the host must reach one of these addresses; look at routes, firewalls and agent_config.network"
}

check_room() {
  has df || return 0
  free=$(df -Pk "$STAGE" 2>/dev/null | sed -n '2p' | tr -s ' ' | cut -d' ' -f4)
  need=$((SIZE * 5 / 1024))
  case "$free" in
    '' | *[!0-9]*) return 0 ;;
  esac
  [ "$free" -ge "$need" ] || fail 23 "$BASE has $free KiB of free room; $need KiB are needed" "make room, or choose another folder with agent_config.extra.basedir"
}

# place_program: unpacks by the first bytes of the file, and switches to the version.
place_program() {
  if [ "$DRY" = yes ]; then plan "place the program at $BIN"; return 0; fi
  file=\${FOUND:-$PART}
  case "$(od -An -tx1 -N4 "$file" | tr -d ' \\n')" in
    1f8b*) unpack='gzip -dc' ;;
    fd377a58) unpack='xz -dc' ;;
    28b52ffd) unpack='zstd -dc' ;;
    *) unpack=cat ;;
  esac
  has "\${unpack%% *}" || fail 15 "the program \${unpack%% *} is missing to unpack the agent" "install it and run this script again"
  folder=$DIR/versions/$VERSION
  as_agent "umask 077; mkdir -p '$folder'" || fail 22 "$folder cannot be made"
  { $unpack "$file" || echo failed >"$STAGE/unpack"; } | put_file "$folder/baton-agent" 700 || exit $?
  if [ -e "$STAGE/unpack" ]; then
    rm -f "$STAGE/unpack"
    rm -f "$PART"
    fail 33 "the downloaded file cannot be unpacked" "look at the room on the disk (df $DIR)"
  fi
  said=$(as_agent "'$folder/baton-agent' version" 2>&1) ||
    fail 34 "the program does not run on this host: $(printf '%s' "$said" | sed -n 1p)" "are glibc 2.28 and libstdc++ there?"
  as_agent "cd '$DIR' && ln -sfn 'versions/$VERSION' current.new && mv -Tf current.new current 2>/dev/null || { rm -f current && mv current.new current; }" ||
    fail 22 "$DIR/current cannot be made"
}
`;
