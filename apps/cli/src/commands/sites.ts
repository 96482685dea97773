import { type Cli, noun, option, visibilityOption } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

const SHOWN = {
  columns: ['name', 'location', 'visibility', 'created_at', 'created_by'],
  wide: ['latitude', 'longitude', 'tenant_name'],
  name: 'name',
};

export function siteCommands(cli: Cli): void {
  const sites = noun(cli, 'sites', {
    alias: 'site',
    about: 'places where deployments run',
    examples: ['sites create lab --location 48.2,16.4', 'deployments set-site web -s lab'],
  });
  listCommand(cli, sites, { ...SHOWN, operation: 'listSites', about: 'list sites' });
  getCommand(cli, sites, {
    ...SHOWN,
    operation: 'getSite',
    param: 'name',
    argument: '<name>',
    about: 'show a site',
  });
  const location = () => option('--location <latitude,longitude>', 'where it is; an empty text: nowhere');
  callCommand(cli, sites, {
    name: 'create <name>',
    about: 'create a site',
    operation: 'createSite',
    options: [location(), visibilityOption('tenant')],
    request: ([name], o) => ({ params: { name }, body: { location: o.location, visibility: o.visibility } }),
    done: ([name]) => `Site ${name} created.`,
  });
  callCommand(cli, sites, {
    name: 'update <name>',
    about: 'rename, move or widen a site',
    operation: 'updateSite',
    options: [location(), option('--new-name <name>', 'new name'), visibilityOption()],
    request: ([name], o) => ({
      params: { name },
      body: { location: o.location, new_name: o.newName, visibility: o.visibility },
    }),
    done: (_args, site) => `Site ${site.name} changed.`,
  });
  deleteCommand(cli, sites, {
    operation: 'deleteSite',
    param: 'name',
    argument: '<name>',
    about: 'delete a site; its deployments stay',
    kind: 'Site',
  });
}
