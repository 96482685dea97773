/** One version of a plugin: its contents, its installations, and the blueprints that need it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { usePollMs } from '../../live/live-badge';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { Facts } from '../../ui/facts';
import { FormDialog } from '../../ui/form-dialog';
import { Properties } from '../../ui/json-view';
import { ownerFacts } from '../../ui/owner-facts';
import { Panel } from '../../ui/panel';
import { Screen } from '../../ui/screen';
import { type Column, SimpleTable } from '../../ui/simple-table';
import { InlineProblem, Loaded, Loading } from '../../ui/states';
import { useMayChange, type Visibility, VisibilityField, VisibilityText } from '../../ui/visibility';
import { UsesList, UsesPanel, useUses } from '../uses';
import {
  deletePlugin,
  type Installation,
  installationsOf,
  PLUGINS,
  type PluginDetail,
  pluginQuery,
  widenPlugin,
} from './plugins';

export function PluginScreen() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { client } = useApi();
  const query = useQuery({ ...pluginQuery(client, useTenant(), id), refetchInterval: usePollMs() });
  return <Loaded query={query}>{(plugin) => <Shown plugin={plugin} />}</Loaded>;
}

const nameOf = ({ title, package_name, package_version }: PluginDetail): string =>
  [title || package_name, package_version].filter(Boolean).join(' ');

const INSTALLATION_COLUMNS: Column<Installation>[] = [
  { name: t.plugins.worker, cell: ({ target }) => target },
  { name: t.plugins.state, cell: ({ state }) => <Badge status={state} /> },
  { name: t.plugins.error, cell: ({ error }) => error ?? t.none },
];

function Shown({ plugin }: { plugin: PluginDetail }) {
  const tenant = useTenant();
  const installations = installationsOf(plugin);
  const gives = { ...plugin.labels, ...plugin.blueprint_labels, ...plugin.resource_tags };
  return (
    <Screen
      name={nameOf(plugin)}
      above={
        <Link to="/$tenant/plugins" params={{ tenant }}>
          {t.plugins.title}
        </Link>
      }
      side={<Actions plugin={plugin} />}
    >
      <Panel>
        <Facts
          facts={[
            [t.plugins.package, plugin.package_name],
            [t.plugins.version, plugin.package_version],
            [t.plugins.archive, plugin.archive_name],
            [t.plugins.signedBy, plugin.signature && <Signer key="signer" of={plugin.signature} />],
            [
              t.plugins.platform,
              [plugin.distribution, plugin.distribution_release].filter(Boolean).join(' ') ||
                (plugin.supported_platform ?? t.plugins.anyPlatform),
            ],
            [t.plugins.python, plugin.supported_py_versions?.join(', ')],
            [t.plugins.import, plugin.yaml_url_path || t.plugins.noYaml],
            [t.visibility.label, <VisibilityText key="visibility" of={plugin.visibility} />],
            ...ownerFacts({ ...plugin, created_at: plugin.uploaded_at }, tenant),
          ]}
        />
      </Panel>
      <Panel title={t.plugins.installed}>
        {installations.length === 0 ? (
          <p>{t.plugins.onDemandLong}</p>
        ) : (
          <SimpleTable
            label={t.plugins.installed}
            columns={INSTALLATION_COLUMNS}
            rows={installations}
            keyOf={({ target }) => target}
          />
        )}
      </Panel>
      <UsesPanel used={{ kind: 'plugins', id: plugin.id }} />
      {Object.keys(gives).length > 0 && (
        <Panel title={t.plugins.gives}>
          <Properties of={gives} empty={t.none} />
        </Panel>
      )}
    </Screen>
  );
}

/** The key that has signed the package, and what the tenant of the plugin thinks of it. */
function Signer({ of: { state, key_name, fingerprint } }: { of: NonNullable<PluginDetail['signature']> }) {
  return (
    <>
      <Badge status={state} /> {key_name ?? t.plugins.unknownKey} <code>{fingerprint}</code>
    </>
  );
}

function Actions({ plugin }: { plugin: PluginDetail }) {
  const mayChange = useMayChange();
  const [open, setOpen] = useState<'visibility' | 'delete' | null>(null);
  const close = (): void => setOpen(null);
  return (
    <>
      {plugin.visibility !== 'global' && mayChange('resource_set_visibility', plugin) && (
        <Button onClick={() => setOpen('visibility')}>{t.plugins.widen}</Button>
      )}
      {mayChange('plugin_delete', plugin) && (
        <Button onClick={() => setOpen('delete')}>{t.resource.delete}</Button>
      )}
      {open === 'visibility' && <Widen plugin={plugin} onClose={close} />}
      {open === 'delete' && <Delete plugin={plugin} onClose={close} />}
    </>
  );
}

interface PluginDialogProps {
  plugin: PluginDetail;
  onClose: () => void;
}

function Widen({ plugin, onClose }: PluginDialogProps) {
  const [visibility, setVisibility] = useState<Visibility>(plugin.visibility);
  const widen = useChange(
    [PLUGINS],
    (client, tenant, wider: 'tenant' | 'global') => widenPlugin(client, tenant, plugin.id, wider),
    onClose,
  );
  return (
    <FormDialog
      title={t.plugins.widenOf(nameOf(plugin))}
      submit={t.resource.save}
      mutation={widen}
      onSubmit={() => (visibility === 'private' ? onClose() : widen.mutate(visibility))}
      onClose={onClose}
    >
      {(errorOf) => (
        <VisibilityField
          value={visibility}
          atLeast={plugin.visibility}
          onChange={setVisibility}
          error={errorOf('visibility')}
        />
      )}
    </FormDialog>
  );
}

function Delete({ plugin, onClose }: PluginDialogProps) {
  const tenant = useTenant();
  const navigate = useNavigate();
  const uses = useUses({ kind: 'plugins', id: plugin.id });
  const isUsed = uses.data !== undefined && uses.data.total > 0;
  const remove = useChange(
    [PLUGINS],
    (client) => deletePlugin(client, tenant, plugin.id, isUsed),
    () => navigate({ to: '/$tenant/plugins', params: { tenant } }),
  );
  return (
    <ConfirmDialog
      title={t.plugins.deleteOf(nameOf(plugin))}
      text={isUsed ? t.plugins.deleteUsed : t.plugins.deleteText}
      action={isUsed ? t.plugins.deleteForce : t.plugins.deleteSubmit}
      mutation={remove}
      onClose={onClose}
      isBlocked={uses.isPending}
      typed={isUsed ? plugin.package_name : undefined}
    >
      {uses.isPending && <Loading />}
      <InlineProblem error={uses.error} />
      {uses.data && <UsesList uses={uses.data} />}
    </ConfirmDialog>
  );
}
