# Starts and stops the manager: by systemd where it runs, else as a process of its own. Sourced by install.sh, which sets PREFIX,
# DATA, ACCOUNT (empty: the caller's own) and PORT.

has_systemd() { [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1; }

systemctl_of() { if [ "$(id -u)" = 0 ]; then systemctl "$@"; else systemctl --user "$@"; fi; }

start_manager() {
  if has_systemd; then
    systemctl_of daemon-reload
    systemctl_of enable --quiet --now baton.service
    return
  fi
  # Its own files from the first moment: nothing of the caller's stays open with the manager.
  (
    exec >>"$DATA/manager.log" 2>&1 </dev/null
    as_account setsid "$PREFIX/current/bin/baton-standalone"
  ) &
}

# Ends the manager and waits for its end; nothing is lost: accepted work goes on at the next start.
stop_manager() {
  if has_systemd; then
    systemctl_of stop baton.service 2>/dev/null || true
    return
  fi
  pid=$(manager_pid) || return 0
  kill -TERM "$pid" 2>/dev/null || return 0
  for _ in $(seq 1 300); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  die "The manager (process $pid) does not end within 30 s."
}

# The process whose program lies below the prefix: another program that got the same number is not it.
manager_pid() {
  for proc in /proc/[0-9]*; do
    program=$(tr '\0' '\n' <"$proc/cmdline" 2>/dev/null | sed -n 2p)
    case $program in
    "$PREFIX"/releases/*/manager/dist/apps/standalone/main.js | "$PREFIX"/current/manager/dist/apps/standalone/main.js)
      echo "${proc#/proc/}"
      return 0
      ;;
    esac
  done
  return 1
}

as_account() {
  if [ -n "$ACCOUNT" ] && [ "$(id -u)" = 0 ]; then
    env HOME="$DATA" BATON_HOME="$DATA" BATON_WORKER_DIR="$DATA-work" BATON_PORT="$PORT" \
      setpriv --reuid="$ACCOUNT" --regid="$ACCOUNT" --init-groups --no-new-privs "$@"
  else
    env BATON_HOME="$DATA" BATON_WORKER_DIR="$DATA-work" BATON_PORT="$PORT" "$@"
  fi
}

# Waits until the manager says that it is ready. Returns 1 after $1 seconds.
await_ready() {
  for _ in $(seq 1 "$(($1 * 4))"); do
    if "$PREFIX/current/bin/ready" "http://127.0.0.1:$PORT/readyz"; then return 0; fi
    sleep 0.25
  done
  return 1
}
