import { checkScriptOptions, type InstallScriptOptions } from './options';
import { checkPart } from './parts/check';
import { downloadPart } from './parts/download';
import { enrolPart } from './parts/enrol';
import { placePart } from './parts/place';
import { sayPart } from './parts/say';
import { servicePart } from './parts/service';
import { renderUninstallScript } from './uninstall';
import { valueLines } from './values';

/**
 * Renders the script that installs an agent on a host: for every POSIX shell, with each value quoted as one word. It holds
 * the one-time token: show it only to who may install the agent. Its exit codes: installExitCodes.
 * @throws AppError bad_parameters_error (reference/agents.md 2 S13) when a value makes no script
 */
export function renderInstallScript(options: InstallScriptOptions): string {
  checkScriptOptions(options);
  const uninstall = renderUninstallScript({ name: options.name });
  return `#!/bin/sh
# Installs a Baton agent on this host, or repairs it. It holds a token that is good for one hour and one use.
# Options: --dry-run, --user-mode, --uninstall, --help.
set -u
umask 077
${valueLines(options, uninstall)}
${[sayPart, checkPart, placePart, downloadPart, enrolPart, servicePart, mainPart].join('')}
main "$@"
`;
}

/** The order of the steps. The script ends with a call of \`main\`: a part of it that arrives alone does nothing. */
const mainPart = `
usage() {
  cat <<'TEXT'
Installs a Baton agent on this host, or repairs it.
  --dry-run     says what would be done, and checks what can be checked
  --user-mode   for the user who runs it, in the home folder, without root
  --uninstall   removes the agent
Variables: AGENT_USER, AGENT_DIR, PACKAGE_URL, BATON_AGENT_FILE (a program that is on this host already).
TEXT
}

read_options() {
  UNINSTALL_ONLY=no
  for option in "$@"; do
    case "$option" in
      --dry-run) DRY=yes ;;
      --user-mode) USER_MODE=yes ;;
      --uninstall) UNINSTALL_ONLY=yes ;;
      --help | -h) usage; exit 0 ;;
      *) usage >&2; fail 2 "the option $option is not known" ;;
    esac
  done
  # The names of the original's script come after ours.
  WANTED_USER=\${AGENT_USER:-\${CLOUDIFY_DAEMON_USER:-$WANTED_USER}}
  WANTED_DIR=\${AGENT_DIR:-\${CLOUDIFY_DAEMON_WORKDIR:-$WANTED_DIR}}
}

choose_address() {
  PACKAGE_URL=\${PACKAGE_URL:-$WANTED_URL}
  [ -z "$PACKAGE_URL" ] || return 0
  for address in $ADDRESSES; do
    PACKAGE_URL="\${PACKAGE_URL:+$PACKAGE_URL }$address/agent/v1/packages/$PLATFORM"
  done
}

main() {
  read_options "$@"
  check_system
  choose_rights "$@"
  choose_service
  choose_places
  if [ "$UNINSTALL_ONLY" = yes ]; then
    [ "$DRY" = no ] || { say "would: remove the agent in $DIR"; exit 0; }
    printf '%s' "$UNINSTALL" | sed "s|^DIR=''\\$|DIR='$DIR'|" | sh -s
    exit $?
  fi
  open_log
  choose_address
  choose_package
  check_downloader
  take_lock
  make_user
  make_folder
  download
  place_program
  write_config
  enrol
  disable_requiretty
  start_service
  [ -n "$FOUND" ] || [ "$DRY" = yes ] || STAGE_CLEAN=$PART
  if [ "$DRY" = yes ]; then say "nothing was changed"; else say "the agent $AGENT_NAME is installed"; fi
}
`;
