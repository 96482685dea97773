/** Sites with their places and the number of deployments at each. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi, useTenant } from '../../api/api-context';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { timeColumn, visibilityColumn } from '../../ui/list-columns';
import { ListScreen } from '../../ui/list-screen';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import { useRowDialogs } from '../../ui/use-row-dialogs';
import type { ListColumn } from '../../ui/virtual-list';
import { SiteForm } from './site-form';
import { deleteSite, SITES, type SiteRow, siteCountsQuery, siteList } from './sites';

const SORT = ['name'];

export function SitesScreen() {
  const { client } = useApi();
  const tenant = useTenant();
  const { data: counts } = useQuery(siteCountsQuery(client, tenant));
  const { open, close, create, actions } = useRowDialogs<SiteRow>('site', t.sites.create);
  return (
    <>
      <ListScreen
        name={t.sites.title}
        label={t.sites.title}
        list={siteList}
        columns={[...columnsFor(tenant, counts), actions]}
        keyOf={({ tenant_name, name }) => `${tenant_name} ${name}`}
        count={t.sites.count}
        sort={SORT}
        searchLabel={t.sites.search}
        side={create}
        empty={<Empty title={t.sites.empty} hint={t.sites.emptyHint} action={create} />}
      />
      {open?.kind === 'create' && <SiteForm site={null} onClose={close} />}
      {open?.kind === 'edit' && <SiteForm site={open.row} onClose={close} />}
      {open?.kind === 'delete' && (
        <DeleteSite name={open.row.name} deployments={counts?.get(open.row.name) ?? 0} onClose={close} />
      )}
    </>
  );
}

const columnsFor = (
  tenant: string,
  counts: ReadonlyMap<string, number> | undefined,
): ListColumn<SiteRow>[] => [
  {
    id: 'name',
    name: t.sites.name,
    width: 'minmax(140px, 1.6fr)',
    cell: (row) => (
      <span className={cells.main}>
        <strong className={cells.cut}>{row.name}</strong>
        <span className={`${cells.line} narrow-only`}>
          <span>{locationText(row)}</span>
          <DeploymentsCell row={row} tenant={tenant} counts={counts} />
        </span>
      </span>
    ),
  },
  {
    id: 'location',
    name: t.sites.location,
    width: 'minmax(150px, 1.2fr)',
    isWideOnly: true,
    cell: locationText,
  },
  {
    id: 'deployments',
    name: t.sites.deployments,
    width: 'minmax(130px, 1fr)',
    isWideOnly: true,
    cell: (row) => <DeploymentsCell row={row} tenant={tenant} counts={counts} />,
  },
  visibilityColumn(),
  timeColumn('created', t.resource.created, (row) => row.created_at),
];

const locationText = ({ latitude, longitude }: SiteRow): string =>
  latitude === null || longitude === null ? t.sites.noPlace : t.sites.place(latitude, longitude);

function DeploymentsCell({
  row: { name },
  tenant,
  counts,
}: {
  row: SiteRow;
  tenant: string;
  counts: ReadonlyMap<string, number> | undefined;
}) {
  if (!counts) return null;
  const n = counts.get(name) ?? 0;
  if (n === 0) return <span className={cells.quiet}>{t.deployments.count(0)}</span>;
  return (
    <Link className={cells.above} to="/$tenant/deployments" params={{ tenant }} search={{ site_name: name }}>
      {t.deployments.count(n)}
    </Link>
  );
}

function DeleteSite({
  name,
  deployments,
  onClose,
}: {
  name: string;
  deployments: number;
  onClose: () => void;
}) {
  const remove = useChange(
    [SITES, 'deployments'],
    (client, tenant) => deleteSite(client, tenant, name),
    onClose,
  );
  return (
    <ConfirmDialog
      title={t.sites.deleteOf(name)}
      text={deployments > 0 ? t.sites.deleteHits(deployments) : t.sites.deleteText}
      action={t.sites.deleteSubmit}
      mutation={remove}
      onClose={onClose}
    />
  );
}
