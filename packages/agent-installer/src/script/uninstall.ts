import { placeName, shellWord } from './names';

export interface UninstallOptions {
  /** Of the agent's record. */
  name: string;
  /** Folder of the agent. Undefined: `<baseDir>/<name>`. */
  dir?: string;
  /** Undefined: /opt/baton-agent for root, else ~/.baton-agent. */
  baseDir?: string;
}

/**
 * Renders the script that removes an agent from its host: service, folder, crontab, sudo rule, log and the user if the
 * installation made it. It asks no manager.
 */
export function renderUninstallScript({ name, dir, baseDir }: UninstallOptions): string {
  return `#!/bin/sh
# Removes the Baton agent from this host. No manager is needed.
set -u
PLACE_NAME=${shellWord(placeName(name))}
DIR=${shellWord(dir ?? '')}
WANTED_BASE=${shellWord(baseDir ?? '')}
${body}
main "$@"
`;
}

const body = `
say() { printf '%s\\n' "$*"; }
has() { command -v "$1" >/dev/null 2>&1; }

find_folder() {
  # The installation writes the folder into its copy of this script.
  if [ -z "$DIR" ]; then
    if [ "$(id -u)" = 0 ]; then base=/opt/baton-agent; else base=$HOME/.baton-agent; fi
    DIR=\${WANTED_BASE:-$base}/$PLACE_NAME
  fi
  case "$DIR" in
    /*/*) ;;
    *) say "baton-agent: error 2: $DIR is no folder of an agent" >&2; exit 2 ;;
  esac
  BASE=\${DIR%/*}
  UNIT=baton-agent-$PLACE_NAME.service
  OWNER=$(stat -c %U "$DIR" 2>/dev/null)
}

remove_unit() {
  [ -f "/etc/systemd/system/$UNIT" ] || return 0
  if has systemctl; then
    systemctl disable --now "$UNIT" >/dev/null 2>&1
  fi
  rm -f "/etc/systemd/system/$UNIT"
  if has systemctl; then
    systemctl daemon-reload >/dev/null 2>&1
    systemctl reset-failed "$UNIT" >/dev/null 2>&1
  fi
}

as_owner() {
  if [ "$OWNER" = "$(id -un)" ]; then sh -c "$1"
  elif has runuser; then runuser -s /bin/sh -c "$1" "$OWNER"
  else su -s /bin/sh -c "$1" "$OWNER"
  fi
}

remove_cron() {
  has crontab && [ -n "$OWNER" ] || return 0
  mark="# baton-agent $PLACE_NAME"
  as_owner "crontab -l 2>/dev/null | grep -Fq '$mark'" || return 0
  as_owner "{ crontab -l | grep -Fv '$mark'; :; } | crontab -"
  # An empty table is removed: there was none before.
  as_owner "crontab -l 2>/dev/null | grep -q ." || as_owner "crontab -r" 2>/dev/null
}

# stop_processes: everything that runs a program of the folder, except this script and its parents.
stop_processes() {
  for signal in TERM KILL; do
    left=
    for exe in /proc/[0-9]*/exe; do
      case "$(readlink "$exe" 2>/dev/null)" in
        "$DIR"/*)
          pid=\${exe#/proc/}
          pid=\${pid%/exe}
          [ "$pid" = "$$" ] || { kill -s "$signal" "$pid" 2>/dev/null; left="$left $pid"; }
          ;;
      esac
    done
    pid=$(cat "$DIR/supervise.pid" 2>/dev/null)
    case "$pid" in
      '' | *[!0-9]*) ;;
      *) if cat "/proc/$pid/cmdline" 2>/dev/null | tr '\\000' ' ' | grep -Fq "$DIR/"; then kill -s "$signal" "$pid" 2>/dev/null; left="$left $pid"; fi ;;
    esac
    [ -n "$left" ] || return 0
    for second in 1 2 3 4 5 6 7 8 9 10; do
      alive=no
      for pid in $left; do [ -d "/proc/$pid" ] && alive=yes; done
      [ "$alive" = yes ] || break
      sleep 1
    done
  done
}

# tell_program: it ends its operations, and removes what it has made elsewhere (executable_temp_path).
tell_program() {
  [ -n "$OWNER" ] && [ -x "$DIR/current/baton-agent" ] || return 0
  as_owner "'$DIR/current/baton-agent' uninstall --dir '$DIR' --yes" >/dev/null 2>&1 || :
}

remove_user() {
  grep -qs "^$OWNER:[^:]*:[^:]*:[^:]*:baton-agent (made by its installation):" /etc/passwd || return 0
  # Another agent of the host may use it.
  for other in "$BASE"/*/agent.json /etc/systemd/system/baton-agent-*.service; do
    if [ -f "$other" ]; then
      case "$other" in
        *.service) grep -q "^User=$OWNER\\$" "$other" && return 0 ;;
        *) return 0 ;;
      esac
    fi
  done
  if has userdel; then userdel "$OWNER" 2>/dev/null; else deluser "$OWNER" 2>/dev/null; fi
  if has groupdel; then groupdel "$OWNER" 2>/dev/null; elif has delgroup; then delgroup "$OWNER" 2>/dev/null; fi
  return 0
}

main() {
  find_folder
  say "removing the agent in $DIR"
  if [ -f "/etc/systemd/system/$UNIT" ] && [ "$(id -u)" != 0 ]; then
    say "baton-agent: error 20: the unit $UNIT needs the rights of root; run this script as root" >&2
    exit 20
  fi
  cd /
  remove_unit
  remove_cron
  tell_program
  stop_processes
  rm -f "/etc/sudoers.d/baton-agent-$(printf '%s' "$PLACE_NAME" | tr . _)" 2>/dev/null
  rm -rf "$DIR" "$BASE/uninstall-$PLACE_NAME.sh" "$BASE/.$PLACE_NAME.install" "$BASE/.$PLACE_NAME.install.log"
  [ "$(id -u)" != 0 ] || rm -f "/var/log/baton-agent-$PLACE_NAME.install.log"
  rmdir "$BASE" 2>/dev/null
  [ "$(id -u)" != 0 ] || remove_user
  if [ -e "$DIR" ]; then
    say "baton-agent: error 60: $DIR cannot be removed wholly; look at its rights and mounts" >&2
    exit 60
  fi
  say "the agent is removed"
}
`;
