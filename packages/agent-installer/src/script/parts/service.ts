/** The unit of systemd, or a process that keeps itself alive by cron. */
export const servicePart = `
disable_requiretty() {
  [ "$REQUIRETTY_OFF" = yes ] && [ "$USER_MODE" = no ] && [ "$SERVICE" != detach ] || return 0
  [ -d /etc/sudoers.d ] && grep -Eqs '^[^#!]*[^!]requiretty' /etc/sudoers /etc/sudoers.d/* || return 0
  rule=/etc/sudoers.d/baton-agent-$(printf '%s' "$PLACE_NAME" | tr . _)
  plan "let $RUN_USER use sudo without a terminal ($rule)" || return 0
  printf 'Defaults:%s !requiretty\\n' "$RUN_USER" >"$STAGE/sudoers"
  if has visudo && ! visudo -cqf "$STAGE/sudoers" >/dev/null 2>&1; then
    say "the rule for sudo is not valid here and is left out"
  else
    chmod 440 "$STAGE/sudoers" && mv -f "$STAGE/sudoers" "$rule"
  fi
  rm -f "$STAGE/sudoers"
}

# leave_line: root removes an agent that is to go. Only where nobody else can change the script.
leave_line() {
  [ "$BASE" = /opt/baton-agent ] || return 0
  printf '%s\\n' "ExecStopPost=+-/bin/sh -c 'test ! -f $DIR/leave || exec systemd-run --no-block --collect /bin/sh $UNINSTALLER'"
}

unit_text() {
  cat <<UNIT
[Unit]
Description=Baton agent $PLACE_NAME
Documentation=file:$UNINSTALLER
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0
# The agent writes this file when its operation stop asks it to go.
ConditionPathExists=!$DIR/leave

[Service]
Type=simple
User=$RUN_USER
WorkingDirectory=$DIR
ExecStart=$BIN run --dir $DIR
# One arena of malloc: less memory. Operations do not get it.
Environment=MALLOC_ARENA_MAX=1
Restart=always
RestartSec=2
# A wrong command line or configuration does not become right by another start.
RestartPreventExitStatus=2 3 4
# The agent itself waits for its operations, and ends them.
KillMode=mixed
TimeoutStopSec=90
# An operation that takes all memory does not take the agent with it.
OOMPolicy=continue
# Keys in the memory are not written to disk.
LimitCORE=0
LimitNOFILE=65536
UMask=0022
KeyringMode=private
LockPersonality=yes
# Operations install packages, use sudo and change the system: what would forbid that stays away here
# (NoNewPrivileges, ProtectSystem, PrivateTmp and their like).

$(leave_line)

[Install]
WantedBy=multi-user.target
UNIT
}

start_service() {
  if [ "$SERVICE" = systemd ]; then start_unit; else start_detached; fi
}

start_unit() {
  plan "make and start $UNIT" || return 0
  unit_text >"/etc/systemd/system/$UNIT.new" && chmod 644 "/etc/systemd/system/$UNIT.new" && mv -f "/etc/systemd/system/$UNIT.new" "/etc/systemd/system/$UNIT" ||
    fail 50 "/etc/systemd/system/$UNIT cannot be written"
  systemctl daemon-reload || fail 50 "systemd does not read its units" "systemctl daemon-reload says why"
  systemctl enable "$UNIT" >/dev/null 2>&1 || fail 50 "$UNIT cannot be enabled" "systemctl enable $UNIT says why"
  systemctl restart "$UNIT" || fail 50 "$UNIT cannot be started" "journalctl -u $UNIT says why"
  sleep 2
  systemctl is-active --quiet "$UNIT" || fail 51 "$UNIT ended soon after its start" "journalctl -u $UNIT says why"
}

start_detached() {
  plan "start the agent in the background, and again by cron after a restart of the host" || return 0
  {
    printf '#!/bin/sh\\n# Starts the agent unless it runs. cron calls it.\\n'
    printf '[ ! -f "%s/leave" ] || exec /bin/sh "%s"\\n' "$DIR" "$UNINSTALLER"
    printf 'pid=$(cat "%s/supervise.pid" 2>/dev/null)\\n' "$DIR"
    printf 'if [ -n "$pid" ] && [ "$(cat "/proc/$pid/cmdline" 2>/dev/null | tr "\\\\000" " " | grep -c " supervise ")" = 1 ]; then exit 0; fi\\n'
    printf 'cd "%s" || exit 1\\n' "$DIR"
    printf 'if command -v setsid >/dev/null 2>&1; then s=setsid; else s=nohup; fi\\n'
    printf '$s "%s" supervise --dir "%s" </dev/null >>"%s/log/supervise.out" 2>&1 &\\n' "$BIN" "$DIR" "$DIR"
    printf 'echo $! >"%s/supervise.pid"\\n' "$DIR"
  } | put_file "$DIR/keep-alive.sh" 700 || exit $?
  add_cron
  stop_detached
  as_agent "'$DIR/keep-alive.sh'" || fail 50 "the agent cannot be started in the background" "$DIR/log/supervise.out says why"
  sleep 2
  pid=$(as_agent "cat '$DIR/supervise.pid'" 2>/dev/null)
  case "$pid" in
    '' | *[!0-9]*) fail 50 "the agent did not start in the background" "$DIR/log/supervise.out says why" ;;
  esac
  [ -d "/proc/$pid" ] || fail 51 "the agent ended soon after its start" "$DIR/log/supervise.out says why"
}

# stop_detached: an agent lets its operations end for 30 s. One that has not ended then is killed; the next one reads its journal.
stop_detached() {
  pid=$(as_agent "cat '$DIR/supervise.pid'" 2>/dev/null)
  case "$pid" in
    '' | *[!0-9]*) return 0 ;;
  esac
  as_agent "grep -q supervise /proc/$pid/cmdline && kill $pid" 2>/dev/null || return 0
  second=0
  while [ -d "/proc/$pid" ]; do
    second=$((second + 1))
    [ "$second" -le 40 ] || break
    sleep 1
  done
  [ -d "/proc/$pid" ] || return 0
  say "the former agent (process $pid) does not end; it is killed"
  as_agent "for exe in /proc/[0-9]*/exe; do
    case \\"\\$(readlink \\"\\$exe\\" 2>/dev/null)\\" in
      '$DIR'/versions/*) one=\\\${exe#/proc/}; kill -9 \\"\\\${one%/exe}\\" ;;
    esac
  done" 2>/dev/null
}

add_cron() {
  if ! has crontab; then
    say "there is no crontab: the agent does not come back by itself after a restart of the host"
    return 0
  fi
  mark="# baton-agent $PLACE_NAME"
  as_agent "{ crontab -l 2>/dev/null | grep -Fv '$mark'; echo '@reboot $DIR/keep-alive.sh $mark'; echo '* * * * * $DIR/keep-alive.sh $mark'; } | crontab -" ||
    say "the crontab of $RUN_USER cannot be changed: the agent does not come back by itself after a restart of the host"
}
`;
