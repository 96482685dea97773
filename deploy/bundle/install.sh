#!/bin/sh
# Installs, upgrades or removes a Baton manager from this folder, without a network. `./install.sh --help`
set -eu
umask 022

HERE=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
usage() {
  cat <<'TEXT'
usage: ./install.sh [--prefix DIR] [--data DIR] [--port N] [--no-start]
       ./install.sh --upgrade [--without-snapshot] [--wait SECONDS] [--prefix DIR] [--data DIR]
       ./install.sh --remove [--purge] [--prefix DIR] [--data DIR]

As root: programs in /opt/baton, data in /var/lib/baton, user and unit `baton`, command /usr/local/bin/baton.
As another user: programs in ~/.local/lib/baton, data in ~/.baton, a unit of that user, command ~/.local/bin/baton.

--upgrade   makes a snapshot, stops the manager, keeps a copy of its data, starts this release, and goes back to the old
            release with the old data when this release does not become ready within --wait seconds (180)
--remove    stops the manager and removes its programs; the data stay, unless --purge
TEXT
}
die() {
  printf 'install.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}
say() { printf '%s\n' "$1"; }

MODE=install PURGE=no START=yes SNAPSHOT=yes PREFIX='' DATA='' PORT='' WAIT=180
while [ $# -gt 0 ]; do
  case $1 in
  --prefix | --data | --port | --wait)
    [ $# -ge 2 ] || die "$1 needs a value" 64
    case $1 in --prefix) PREFIX=$2 ;; --data) DATA=$2 ;; --port) PORT=$2 ;; --wait) WAIT=$2 ;; esac
    shift
    ;;
  --upgrade) MODE=upgrade ;;
  --remove) MODE=remove ;;
  --purge) PURGE=yes ;;
  --no-start) START=no ;;
  --without-snapshot) SNAPSHOT=no ;;
  --help | -h)
    usage
    exit 0
    ;;
  *)
    usage >&2
    die "unknown option $1" 64
    ;;
  esac
  shift
done
if [ "$(id -u)" = 0 ]; then
  : "${PREFIX:=/opt/baton}" "${DATA:=/var/lib/baton}"
  ACCOUNT=baton UNITS=/etc/systemd/system COMMANDS=/usr/local/bin TARGET=multi-user.target
else
  : "${PREFIX:=$HOME/.local/lib/baton}" "${DATA:=$HOME/.baton}"
  ACCOUNT='' UNITS=$HOME/.config/systemd/user COMMANDS=$HOME/.local/bin TARGET=default.target
fi
case $PREFIX$DATA in *[!A-Za-z0-9._/-]*) die "--prefix and --data: letters, digits, . _ - and / only" 64 ;; esac
case $PREFIX in /*) ;; *) die "--prefix $PREFIX: must begin with /" 64 ;; esac
case $DATA in /*) ;; *) die "--data $DATA: must begin with /" 64 ;; esac
SETTINGS=$PREFIX/settings.env
if [ -z "$PORT" ] && [ -f "$PREFIX/port" ]; then PORT=$(cat "$PREFIX/port"); fi
: "${PORT:=8080}"
case $PORT in *[!0-9]* | '') die "--port $PORT: must be a number" 64 ;; esac
case $WAIT in *[!0-9]* | '') die "--wait $WAIT: must be a number of seconds" 64 ;; esac
. "$HERE/control.sh"

# Refuses a folder that is not exactly what was packed: changed, missing or added files.
verify() {
  say "checking the digests ..."
  (cd "$HERE" && sha256sum --quiet --strict -c SHA256SUMS) || die "The archive is damaged or was changed: nothing was installed."
  listed=$(wc -l <"$HERE/SHA256SUMS")
  found=$(find "$HERE" -type f ! -path "$HERE/SHA256SUMS" | wc -l)
  [ "$listed" -eq "$found" ] || die "The archive holds $found files and lists $listed: nothing was installed."
  strange=$(cd "$HERE" && find . -type l -lname '/*' | head -n 1)
  [ -z "$strange" ] || die "The archive holds a link to outside, $strange: nothing was installed."
}

find_node() {
  NODE=$HERE/manager/node
  if [ -x "$NODE" ]; then
    NODE=$RELEASE/manager/node
    return
  fi
  NODE=$(command -v node) || die "Node.js 20.19 or newer is not there: install it, or take the archive that holds it."
  "$NODE" -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
    die "$NODE is $("$NODE" --version); Baton needs 20.19 or newer."
}

# Copies this release beside the others; a kill leaves a folder `.new`, which the next run removes.
place_release() {
  version=$(cat "$HERE/VERSION")
  digest=$(sha256sum "$HERE/SHA256SUMS" | cut -c1-12)
  RELEASE=$PREFIX/releases/$version-$digest
  find_node
  [ -d "$RELEASE" ] && return
  mkdir -p "$PREFIX/releases"
  rm -rf "$PREFIX"/releases/*.new
  cp -R "$HERE" "$RELEASE.new"
  mkdir "$RELEASE.new/bin"
  program baton-standalone standalone
  program baton cli
  cat >"$RELEASE.new/bin/ready" <<TEXT
#!/bin/sh
exec "$NODE" -e 'fetch(process.argv[1]).then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))' "\$1"
TEXT
  chmod -R go-w "$RELEASE.new"
  chmod 755 "$RELEASE.new"/bin/*
  [ "$(id -u)" != 0 ] || chown -R 0:0 "$RELEASE.new"
  mv -T "$RELEASE.new" "$RELEASE"
}

program() {
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$NODE" "$RELEASE/manager/dist/apps/$2/main.js" >"$RELEASE.new/bin/$1"
}

switch_to() {
  ln -sfn "$1" "$PREFIX/current.new"
  mv -T "$PREFIX/current.new" "$PREFIX/current"
}

make_account() {
  [ -n "$ACCOUNT" ] || return 0
  getent passwd "$ACCOUNT" >/dev/null ||
    useradd --system --user-group --home-dir "$DATA" --no-create-home --shell /usr/sbin/nologin "$ACCOUNT"
}

write_unit() {
  mkdir -p "$UNITS" "$COMMANDS"
  line="User=$ACCOUNT"
  [ -n "$ACCOUNT" ] || line='# The unit of a user: it runs as that user.'
  sed -e "s|@PREFIX@|$PREFIX|g" -e "s|@DATA@|$DATA|g" -e "s|@WORK@|$DATA-work|g" -e "s|@PORT@|$PORT|g" \
    -e "s|@SETTINGS@|$SETTINGS|g" -e "s|@TARGET@|$TARGET|g" -e "s|@USER@|$line|g" \
    "$PREFIX/current/baton.service" >"$UNITS/baton.service.new"
  chmod 644 "$UNITS/baton.service.new"
  mv "$UNITS/baton.service.new" "$UNITS/baton.service"
  ln -sfn "$PREFIX/current/bin/baton" "$COMMANDS/baton"
  printf '%s\n' "$PORT" >"$PREFIX/port"
  [ -f "$SETTINGS" ] || {
    (umask 077 && printf '# Variables of the manager, one NAME=value a line. Restart it after a change.\n' >"$SETTINGS")
  }
}

install_release() {
  [ ! -e "$PREFIX/current" ] || die "Baton is installed in $PREFIX: use --upgrade."
  verify
  place_release
  make_account
  for folder in "$DATA" "$DATA-work"; do
    if [ -n "$ACCOUNT" ]; then install -d -o "$ACCOUNT" -g "$ACCOUNT" -m 0700 "$folder"; else install -d -m 0700 "$folder"; fi
  done
  chmod 711 "$DATA-work"
  switch_to "$RELEASE"
  write_unit
  [ "$START" = yes ] || {
    say "Installed $RELEASE. Start: $PREFIX/current/bin/baton-standalone"
    return
  }
  start_manager
  await_ready "$WAIT" || die "The manager does not become ready within $WAIT s; see $DATA/manager.log or the journal of baton.service."
  say "Baton $version is ready at http://127.0.0.1:$PORT (console: /ui), password of admin in $DATA/admin.password."
}

baton_command() {
  BATON_URL="http://127.0.0.1:$PORT" BATON_USERNAME=admin BATON_PASSWORD=$(cat "$DATA/admin.password") \
    "$PREFIX/current/bin/baton" "$@"
}

make_snapshot() {
  await_ready 5 || die "The manager does not run, so it cannot make a snapshot. Start it, or use --without-snapshot."
  SNAPSHOT_ID=before-$(cat "$HERE/VERSION")-$(date -u +%Y%m%d%H%M%S)
  say "making the snapshot $SNAPSHOT_ID ..."
  baton_command snapshots create "$SNAPSHOT_ID" >/dev/null
  mkdir -p "$PREFIX/snapshots"
  chmod 700 "$PREFIX/snapshots"
  baton_command snapshots download "$SNAPSHOT_ID" "$PREFIX/snapshots/$SNAPSHOT_ID.zip" >/dev/null
}

upgrade_release() {
  [ -e "$PREFIX/current" ] || die "Baton is not installed in $PREFIX: leave --upgrade out."
  verify
  old=$(readlink "$PREFIX/current")
  place_release
  [ "$old" != "$RELEASE" ] || die "$PREFIX runs this very release already."
  [ "$SNAPSHOT" = no ] || make_snapshot
  kept=$DATA.before-upgrade
  [ ! -e "$kept" ] || die "$kept is there from an upgrade that was broken off. Look at it, and move it away."
  needed=$(du -sk "$DATA" | cut -f1)
  free=$(df -Pk "$DATA" | awk 'NR == 2 { print $4 }')
  [ "$free" -gt $((needed + 102400)) ] || die "A copy of the data needs $needed KB, and the disk has $free KB."
  stop_manager
  cp -a --reflink=auto "$DATA" "$kept"
  switch_to "$RELEASE"
  write_unit
  start_manager
  if await_ready "$WAIT"; then
    rm -rf "$kept"
    say "Baton $version is ready at http://127.0.0.1:$PORT.${SNAPSHOT_ID:+ Snapshot: $PREFIX/snapshots/$SNAPSHOT_ID.zip}"
    return
  fi
  say "The new release does not become ready: going back." >&2
  stop_manager
  mv "$DATA" "$DATA.failed-$(date -u +%Y%m%d%H%M%S)"
  mv "$kept" "$DATA"
  switch_to "$old"
  write_unit
  start_manager
  await_ready 120 || die "The old release does not become ready either; its data are in $DATA."
  die "The upgrade failed. The old release runs again on the data from before; what the new one left is in $DATA.failed-*."
}

remove_release() {
  [ -e "$PREFIX/releases" ] || die "Baton is not installed in $PREFIX."
  stop_manager
  if has_systemd; then systemctl_of disable --quiet baton.service 2>/dev/null || true; fi
  rm -f "$UNITS/baton.service"
  [ "$(readlink "$COMMANDS/baton" 2>/dev/null)" != "$PREFIX/current/bin/baton" ] || rm -f "$COMMANDS/baton"
  rm -rf "$PREFIX/releases" "$PREFIX/current" "$PREFIX/port"
  if [ "$PURGE" = yes ]; then
    rm -rf "$DATA" "$DATA-work" "$PREFIX"
    say "Baton and its data are removed."
  else
    say "Baton is removed. Its data stay in $DATA, its settings and snapshots in $PREFIX."
  fi
}

case $MODE in
install) install_release ;;
upgrade) upgrade_release ;;
remove) remove_release ;;
esac
