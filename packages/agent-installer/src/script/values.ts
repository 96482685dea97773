import { placeName, shellWord } from './names';
import type { InstallScriptOptions } from './options';

/** Configuration of the agent without what only the host knows: its folder, user and kind of service. */
function staticConfig(options: InstallScriptOptions): string {
  const config = {
    name: options.name,
    tenant: options.tenant,
    nodeInstanceId: options.nodeInstanceId,
    addresses: options.addresses.map(withoutSlash),
    authorities: options.authorities,
    // Absent: the agent takes HTTPS_PROXY of its environment.
    proxy: options.httpProxy,
  };
  // Without its last brace: the script adds its own fields.
  return JSON.stringify(config, null, 2).replace(/\n\}$/, '');
}

const withoutSlash = (address: string): string => address.replace(/\/$/, '');

/** The values of one script as assignments. Each is one quoted word, whatever it holds. */
export function valueLines(options: InstallScriptOptions, uninstallText: string): string {
  const isRequirettyOff = options.disableRequiretty ?? true;
  const values: Record<string, string> = {
    AGENT_NAME: options.name,
    PLACE_NAME: placeName(options.name),
    ADDRESSES: options.addresses.map(withoutSlash).join(' '),
    PACKAGES: options.packages
      .map(({ platform, version, sha256, size }) => [platform, version, sha256, size].join(' '))
      .join('\n'),
    TOKEN: options.token,
    WANTED_USER: options.user ?? '',
    WANTED_BASE: options.baseDir ?? '',
    WANTED_DIR: options.agentDir ?? '',
    WANTED_SERVICE: options.processManagement ?? 'auto',
    EXEC_TEMP: options.executableTempPath ?? '',
    REQUIRETTY_OFF: isRequirettyOff ? 'yes' : 'no',
    USER_MODE: options.isUserMode === true ? 'yes' : 'no',
    PROVIDED: options.isProvided === true ? 'yes' : 'no',
    WANTED_URL: options.packageUrl ?? '',
    PROXY: options.httpProxy ?? '',
    CONFIG: staticConfig(options),
    UNINSTALL: uninstallText,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${shellWord(value)}`)
    .join('\n');
}
