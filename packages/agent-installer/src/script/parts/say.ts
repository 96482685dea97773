/** Messages, the log and the end of the script. `fail CODE TEXT HINT` is the only way to fail. */
export const sayPart = `
LOG=
DRY=no
LOCK=
STAGE_CLEAN=

say() {
  printf '%s\\n' "$*"
  [ -z "$LOG" ] || printf '%s %s\\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >>"$LOG" 2>/dev/null || :
}

# fail CODE WHAT [HINT]: says what is wrong and what to do about it, and ends.
fail() {
  say "baton-agent: error $1: $2" >&2
  [ -z "\${3:-}" ] || say "baton-agent: $3" >&2
  [ -z "$LOG" ] || printf '%s\\n' "baton-agent: the log is $LOG" >&2
  exit "$1"
}

has() { command -v "$1" >/dev/null 2>&1; }

# plan TEXT: says a step; false in a dry run, so \`plan "..." || return 0\` leaves it out.
plan() {
  if [ "$DRY" = yes ]; then say "would: $1"; return 1; fi
  say "$1"
}

# as_agent COMMAND: runs a command line with the rights of the agent's user, so nothing that this user
# has put into its folder can lead root elsewhere.
as_agent() {
  if [ "$RUN_USER" = "$(id -un)" ]; then
    sh -c "$1"
  elif has runuser; then
    runuser -s /bin/sh -c "$1" "$RUN_USER"
  else
    su -s /bin/sh -c "$1" "$RUN_USER"
  fi
}

# put_file FILE MODE: writes standard input to a file of the agent, at once.
put_file() {
  as_agent "umask 077; cat > '$1.new' && chmod $2 '$1.new' && mv -f '$1.new' '$1'" ||
    fail 22 "$1 cannot be written" "look at the room on the disk (df) and the rights of the folder"
}

clean_up() {
  [ -z "$STAGE_CLEAN" ] || rm -f "$STAGE_CLEAN"
  [ -z "$LOCK" ] || rm -rf "$LOCK"
}
`;
