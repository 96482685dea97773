/** Configuration and certificate. The token goes by a file that is gone after its use. */
export const enrolPart = `
write_config() {
  plan "write $DIR/agent.json" || return 0
  {
    printf '%s,\\n' "$CONFIG"
    printf '  "processManagement": "%s"\\n}\\n' "$SERVICE"
  } | put_file "$DIR/agent.json" 600 || exit $?
  # Beside the folder: root may run it, and the user of the agent cannot change it.
  printf '%s' "$UNINSTALL" | sed "s|^DIR=''$|DIR='$DIR'|" >"$STAGE/uninstall" && chmod 755 "$STAGE/uninstall" &&
    mv -f "$STAGE/uninstall" "$UNINSTALLER" || fail 22 "$UNINSTALLER cannot be written"
}

token_digest() { printf '%s' "$TOKEN" >"$STAGE/token" && digest_of "$STAGE/token"; rm -f "$STAGE/token"; }

# enrol: a token is good for once. A second run of the same script finds the certificate that the first one got.
enrol() {
  plan "enrol the agent $AGENT_NAME" || return 0
  mark=$(token_digest)
  if [ -n "$mark" ] && [ "$(as_agent "cat '$DIR/tls/enrolled-by'" 2>/dev/null)" = "$mark" ]; then
    say "the agent has its certificate already"
    return 0
  fi
  printf '%s' "$TOKEN" | put_file "$DIR/token" 600 || exit $?
  as_agent "'$BIN' enrol --dir '$DIR' --token-file '$DIR/token'" >"$STAGE/enrol" 2>&1
  code=$?
  as_agent "rm -f '$DIR/token'"
  while IFS= read -r line; do say "  $line"; done <"$STAGE/enrol"
  rm -f "$STAGE/enrol"
  enrol_answer "$code"
  printf '%s' "$mark" | put_file "$DIR/tls/enrolled-by" 600 || exit $?
}

enrol_answer() {
  case "$1" in
    0) return 0 ;;
    40) fail 40 "the manager refuses the token of this script: it was used, or it is older than an hour" "make a new script (baton agents enrol, or run the operation again)" ;;
    41) fail 41 "the manager cannot be reached to enrol the agent at: $ADDRESSES" "the host must reach one of these addresses; look at routes, firewalls and agent_config.network" ;;
    7) fail 22 "the agent cannot write its folder $DIR" "look at the room on the disk (df) and the rights of the folder" ;;
    *) fail 42 "the agent cannot be enrolled (exit code $1 of baton-agent enrol)" "its lines above say why" ;;
  esac
}
`;
