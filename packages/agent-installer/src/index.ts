export {
  type InstallChoices,
  type InstallPackage,
  type InstallScriptOptions,
  readInstallChoices,
} from './script/options';
export { renderInstallScript } from './script/render';
