export { installExitCodes } from './script/exit-codes';
export { placeName } from './script/names';
export {
  type InstallChoices,
  InstallOptionError,
  type InstallPackage,
  type InstallScriptOptions,
  readInstallChoices,
} from './script/options';
export { renderInstallScript } from './script/render';
export { renderUninstallScript, type UninstallOptions } from './script/uninstall';
