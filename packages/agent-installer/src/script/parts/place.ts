/** User, folders and the lock of one installation. */
export const placePart = `
make_user() {
  if id -u "$RUN_USER" >/dev/null 2>&1; then return 0; fi
  plan "make the user $RUN_USER" || return 0
  # Made by this script: the uninstall script removes it with the last agent.
  if has useradd; then
    getent group "$RUN_USER" >/dev/null 2>&1 || groupadd --system "$RUN_USER" ||
      fail 21 "the group $RUN_USER cannot be made" "make it by hand (groupadd) or name a user that is there in agent_config.user"
    useradd --system --gid "$RUN_USER" --home-dir "$BASE" --no-create-home --shell /bin/sh --comment "baton-agent (made by its installation)" "$RUN_USER" ||
      fail 21 "the user $RUN_USER cannot be made" "make it by hand (useradd) or name a user that is there in agent_config.user"
  elif has adduser; then
    addgroup -S "$RUN_USER" 2>/dev/null
    adduser -S -D -H -h "$BASE" -s /bin/sh -g "baton-agent (made by its installation)" -G "$RUN_USER" "$RUN_USER" ||
      fail 21 "the user $RUN_USER cannot be made" "make it by hand or name a user that is there in agent_config.user"
  else
    fail 21 "the user $RUN_USER is not there, and neither useradd nor adduser" "name a user that is there in agent_config.user"
  fi
}

take_lock() {
  STAGE=$BASE/.$PLACE_NAME.install
  [ "$DRY" = no ] || return 0
  mkdir -p "$BASE" || fail 22 "$BASE cannot be made" "choose another folder with agent_config.extra.basedir"
  [ "$USER_MODE" = yes ] || chmod 755 "$BASE"
  if [ -L "$STAGE" ] || { [ -e "$STAGE" ] && ! [ -O "$STAGE" ]; }; then
    fail 22 "$STAGE belongs to somebody else" "remove it and run this script again"
  fi
  mkdir -p -m 700 "$STAGE" || fail 22 "$STAGE cannot be made" "choose another folder with agent_config.extra.basedir"
  if ! mkdir "$STAGE/lock" 2>/dev/null; then
    other=$(cat "$STAGE/lock/pid" 2>/dev/null)
    if [ -n "$other" ] && kill -0 "$other" 2>/dev/null; then
      fail 25 "another installation of this agent is at work (process $other)" "wait for its end and run this script again"
    fi
  fi
  LOCK=$STAGE/lock
  printf '%s\\n' "$$" >"$LOCK/pid"
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

make_folder() {
  plan "make the folder $DIR" || return 0
  if [ ! -d "$DIR" ]; then
    mkdir "$DIR" || fail 22 "$DIR cannot be made" "choose another folder with agent_config.extra.basedir"
  fi
  [ ! -L "$DIR" ] || fail 22 "$DIR is a link" "remove it, or name the folder itself in agent_config.extra.agent_dir"
  if [ "$(id -u)" = 0 ]; then
    chown -h "$RUN_USER:" "$DIR" || fail 22 "$DIR cannot be given to $RUN_USER"
  fi
  chmod 700 "$DIR"
  as_agent "umask 077; rm -f '$DIR/leave'; mkdir -p '$DIR/versions' '$DIR/tls' '$DIR/journal' '$DIR/log' '$DIR/work' '$DIR/state'" ||
    fail 22 "$DIR is not writable for the user $RUN_USER" "every folder above it must be passable (chmod o+x)"
  check_runs "$DIR/work" || fail 24 "programs may not run below $DIR (mounted with noexec?)" "choose another folder with agent_config.extra.basedir"
  check_temp
}

# check_runs FOLDER: may programs of this folder run?
check_runs() {
  as_agent "umask 077; f='$1/baton-runs.$$'; printf '#!/bin/sh\\nexit 0\\n' > \\"\\$f\\" && chmod 700 \\"\\$f\\" && \\"\\$f\\"; r=\\$?; rm -f \\"\\$f\\"; exit \\$r" 2>/dev/null
}

# check_temp: operations run in the folder of the agent, or where agent_config says.
check_temp() {
  if [ -n "$EXEC_TEMP" ]; then
    as_agent "mkdir -p '$EXEC_TEMP'" 2>/dev/null
    check_runs "$EXEC_TEMP" ||
      fail 24 "programs may not run in $EXEC_TEMP" "choose another folder with agent_config.executable_temp_path"
  fi
}
`;
