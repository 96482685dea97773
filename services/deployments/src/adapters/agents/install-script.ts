import { readInstallChoices, renderInstallScript as render } from '@baton/agent-installer';
import type { RenderInstallScript } from '../../domain/agents/install-script';

/** The script of packages/agent-installer. */
export const renderInstallScript: RenderInstallScript = ({ config, ...options }) =>
  render({ ...readInstallChoices(config), ...options });
