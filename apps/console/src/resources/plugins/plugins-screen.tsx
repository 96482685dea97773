/** Plugins and their versions. */
import { Link } from '@tanstack/react-router';
import { Upload } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useMay, useTenant } from '../../api/api-context';
import { t } from '../../text/text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { timeColumn, visibilityColumn } from '../../ui/list-columns';
import { ListScreen } from '../../ui/list-screen';
import cells from '../../ui/row-cells.module.css';
import { Empty } from '../../ui/states';
import type { ListColumn } from '../../ui/virtual-list';
import { VisibilityText } from '../../ui/visibility';
import { installationsOf, type PluginRow, pluginList } from './plugins';

const UploadDialog = lazy(() => import('./upload-dialog'));
/** Versions of one plugin stand together, newest first. */
const SORT = ['package_name', '-uploaded_at', 'id'];

export function PluginsScreen() {
  const tenant = useTenant();
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const upload = may('plugin_upload') && (
    <Button look="main" onClick={() => setOpen(true)}>
      <Upload size={16} aria-hidden="true" /> {t.plugins.upload}
    </Button>
  );
  return (
    <>
      <ListScreen
        name={t.plugins.title}
        label={t.plugins.title}
        list={pluginList}
        columns={columnsFor(tenant)}
        keyOf={({ id }) => id}
        count={t.plugins.count}
        sort={SORT}
        searchLabel={t.plugins.search}
        side={upload}
        isLive
        empty={<Empty title={t.plugins.empty} hint={t.plugins.emptyHint} action={upload} />}
      />
      <Suspense fallback={null}>{isOpen && <UploadDialog onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}

const columnsFor = (tenant: string): ListColumn<PluginRow>[] => [
  {
    id: 'name',
    name: t.plugins.name,
    width: 'minmax(180px, 2fr)',
    cell: (row) => (
      <span className={cells.main}>
        <Link className={cells.link} to="/$tenant/plugins/$id" params={{ tenant, id: row.id }}>
          {row.title || row.package_name}
        </Link>
        {row.title && <span className={cells.sub}>{row.package_name}</span>}
        <span className={`${cells.line} narrow-only`}>
          <span>{row.package_version ?? t.none}</span>
          <VisibilityText of={row.visibility} />
          <InstalledCell row={row} />
        </span>
      </span>
    ),
  },
  {
    id: 'version',
    name: t.plugins.version,
    width: 'minmax(80px, 0.7fr)',
    isWideOnly: true,
    cell: (row) => row.package_version ?? t.none,
  },
  {
    id: 'platform',
    name: t.plugins.platform,
    width: 'minmax(110px, 1fr)',
    isWideOnly: true,
    cell: (row) => row.distribution ?? row.supported_platform ?? t.plugins.anyPlatform,
  },
  {
    id: 'installed',
    name: t.plugins.installed,
    width: 'minmax(150px, 1fr)',
    isWideOnly: true,
    cell: (row) => <InstalledCell row={row} />,
  },
  visibilityColumn('minmax(120px, 0.9fr)'),
  timeColumn('uploaded', t.plugins.uploaded, (row) => row.uploaded_at),
];

/** Shows the worst state that workers report. */
function InstalledCell({ row }: { row: PluginRow }) {
  const states = installationsOf(row).map(({ state }) => state);
  if (states.length === 0) return <span className={cells.quiet}>{t.plugins.onDemand}</span>;
  const worst = states.find((state) => state === 'error') ?? states.find((state) => state !== 'installed');
  return <Badge status={worst ?? 'installed'} isBare />;
}
