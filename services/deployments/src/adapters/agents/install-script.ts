import { readInstallChoices, renderInstallScript as render } from '@baton/agent-installer';
import type { RenderInstallScript } from '../../domain/agents/install-script';

/** The install script, with the choices that `agent_config` of the host makes. @throws AppError bad_parameters_error */
export const renderInstallScript: RenderInstallScript = ({ config, ...about }) =>
  render({ ...about, ...readInstallChoices(config) });
