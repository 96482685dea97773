/** What the host must have: system, processor, C library, programs, rights. Nothing is changed. */
export const checkPart = `
check_system() {
  [ "$(uname -s)" = Linux ] || fail 10 "this is $(uname -s); agents run on Linux" "use install_method: none or ssh for this host"
  case "$(uname -m)" in
    x86_64 | amd64) PLATFORM=linux-x64 ;;
    aarch64 | arm64) PLATFORM=linux-arm64 ;;
    *) fail 11 "there is no agent for the processor $(uname -m)" "agents exist for x86_64 and aarch64; use install_method: ssh for this host" ;;
  esac
  check_libc
  for program in sed cat chmod mkdir mv rm id od wc tr cut; do
    has "$program" || fail 15 "the program $program is missing" "install it and run this script again"
  done
}

check_libc() {
  libc=$( (getconf GNU_LIBC_VERSION || ldd --version) 2>&1 | sed -n 1p)
  case "$libc" in
    *musl*) fail 12 "this host has musl ($libc)" "use install_method: ssh for Alpine and its like" ;;
  esac
  number=$(printf '%s\\n' "$libc" | sed -n 's/.*[^0-9.]\\([0-9][0-9]*\\.[0-9][0-9]*\\).*/\\1/p')
  if [ -z "$number" ]; then
    say "the version of the C library is not known; going on"
    return 0
  fi
  major=\${number%%.*}
  minor=\${number#*.}
  minor=\${minor%%.*}
  [ "$major" -gt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -ge 28 ]; } ||
    fail 12 "this host has glibc $number" "RHEL 8, Debian 10, Ubuntu 20.04 or newer is needed; use install_method: ssh for this host"
}

# choose_rights: root installs for everybody; others get an agent in their home folder.
choose_rights() {
  if [ "$(id -u)" = 0 ]; then
    [ "$USER_MODE" = yes ] && WANTED_USER=\${WANTED_USER:-root}
    return 0
  fi
  if [ "$USER_MODE" = no ] && [ -f "$0" ] && [ -r "$0" ] && has sudo && sudo -n true 2>/dev/null; then
    say "going on with sudo"
    exec sudo -n -- env AGENT_USER="$WANTED_USER" AGENT_DIR="$WANTED_DIR" PACKAGE_URL="\${PACKAGE_URL:-}" \\
      BATON_AGENT_FILE="\${BATON_AGENT_FILE:-}" sh "$0" "$@"
  fi
  [ "$WANTED_SERVICE" != systemd ] ||
    fail 20 "a systemd unit needs the rights of root" "run this script as root, or with process_management: detach"
  [ -z "$WANTED_USER" ] || [ "$WANTED_USER" = "$(id -un)" ] ||
    fail 20 "an agent of the user $WANTED_USER needs the rights of root" "run this script as root, or as that user"
  USER_MODE=yes
}

choose_service() {
  case "$WANTED_SERVICE" in
    systemd)
      { has systemctl && [ -d /run/systemd/system ]; } ||
        fail 50 "systemd does not run on this host" "use process_management: auto or detach"
      SERVICE=systemd
      ;;
    detach) SERVICE=detach ;;
    auto)
      SERVICE=detach
      if [ "$USER_MODE" = no ] && has systemctl && [ -d /run/systemd/system ]; then SERVICE=systemd; fi
      ;;
    *) fail 2 "process_management is $WANTED_SERVICE" "auto, systemd or detach is expected" ;;
  esac
}

# choose_places: the folder, the user and the log.
choose_places() {
  if [ "$USER_MODE" = yes ]; then
    RUN_USER=\${WANTED_USER:-$(id -un)}
    BASE=\${WANTED_BASE:-\${HOME:-/root}/.baton-agent}
  else
    RUN_USER=\${WANTED_USER:-baton-agent}
    BASE=\${WANTED_BASE:-/opt/baton-agent}
  fi
  DIR=\${WANTED_DIR:-$BASE/$PLACE_NAME}
  BASE=\${DIR%/*}
  case "$DIR" in
    *[!A-Za-z0-9/._+@,:=~-]* | */../* | */.. | *//* | */)
      fail 2 "the folder $DIR has signs that a unit or a crontab does not take" "an absolute folder of letters, digits and / . _ + @ , : = ~ - is expected" ;;
    /*/*) ;;
    *) fail 2 "the folder $DIR is not usable" "an absolute folder with a parent folder of its own is expected, like /opt/baton-agent/$PLACE_NAME" ;;
  esac
  case "$RUN_USER" in
    '' | -* | *[!A-Za-z0-9_.@\\$-]*) fail 2 "$RUN_USER is no name of a user" ;;
  esac
  UNIT=baton-agent-$PLACE_NAME.service
  BIN=$DIR/current/baton-agent
  UNINSTALLER=$BASE/uninstall-$PLACE_NAME.sh
}

open_log() {
  [ "$DRY" = no ] || return 0
  if [ "$USER_MODE" = no ]; then
    LOG=/var/log/baton-agent-$PLACE_NAME.install.log
  else
    mkdir -p "$BASE" 2>/dev/null || fail 22 "$BASE cannot be made" "choose another folder with agent_config.extra.basedir"
    LOG=$BASE/.$PLACE_NAME.install.log
  fi
  [ ! -L "$LOG" ] || rm -f "$LOG"
  if ! : 2>/dev/null >>"$LOG"; then
    LOG=
    say "no log is written: /var/log is not writable"
  fi
  say "installing the agent $AGENT_NAME into $DIR for the user $RUN_USER ($SERVICE)"
}
`;
