import { InstallOptionError, readInstallChoices, renderInstallScript as render } from '@baton/agent-installer';
import { AppError } from '@baton/kernel';
import type { RenderInstallScript } from '../../domain/agents/install-script';

/** The script of packages/agent-installer. */
export const renderInstallScript: RenderInstallScript = ({ config, ...options }) => {
  try {
    return render({ ...readInstallChoices(config), ...options });
  } catch (error) {
    if (!(error instanceof InstallOptionError)) throw error;
    const { field, message } = error;
    throw new AppError('bad_parameters_error', message, { field }, { cause: error });
  }
};
