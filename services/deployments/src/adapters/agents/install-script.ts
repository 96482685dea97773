import { agentPaths } from '@baton/contracts';
import type { RenderInstallScript } from '../../domain/agents/install-script';

/** Quotes a text for POSIX shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A short script that installs the agent in its default folder: it downloads, checks, unpacks and enrols. */
export const renderInstallScript: RenderInstallScript = ({
  name,
  addresses,
  token,
  authorities,
  packages,
}) => {
  const sums = packages.map(({ platform, sha256 }) => `  ${platform}) sum=${sha256} ;;`);
  return `#!/bin/sh
# Installs the agent of this host. The token in it is good once, for an hour.
set -eu
umask 077
name=${quoted(name)}
dir=/opt/baton-agent/$name
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64) platform=linux-arm64 ;;
  *) echo "there is no agent for $(uname -s) $(uname -m)" >&2; exit 1 ;;
esac
case "$platform" in
${sums.join('\n')}
  *) echo "the manager serves no agent for $platform" >&2; exit 1 ;;
esac
mkdir -p "$dir/tls"
printf '%s' ${quoted(authorities)} > "$dir/tls/authorities.pem"
printf '%s' ${quoted(token)} > "$dir/token"
url=${quoted(addresses[0] ?? '')}${agentPaths.packages}/$platform
if command -v curl > /dev/null; then curl -fsS -o "$dir/package" "$url"; else wget -q -O "$dir/package" "$url"; fi
printf '%s  %s\\n' "$sum" "$dir/package" | sha256sum -c -
gzip -dc "$dir/package" > "$dir/baton-agent"
chmod 0755 "$dir/baton-agent"
exec "$dir/baton-agent" enrol --dir "$dir" --token-file "$dir/token"
`;
};
