/** The frame of all screens of a tenant: navigation, tenant, live state, account. */
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { Search, WifiOff } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { TenantContext, useApi } from '../api/api-context';
import { sessionQuery } from '../api/session';
import { LiveBadge, useHasBegun } from '../live/live-badge';
import { OwnPreferences } from '../settings/preferences';
import { changeSettings } from '../settings/settings';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { ProblemBoundary } from '../ui/problem-boundary';
import { Loading } from '../ui/states';
import { AccountMenu } from './account-menu';
import { Logo } from './logo';
import { Navigation } from './navigation';
import styles from './shell.module.css';
import { TenantSelect } from './tenant-select';
import { useIsOnline } from './use-is-online';
import { useKeyboard } from './use-keyboard';

const ShortcutsDialog = lazy(() => import('./shortcuts-dialog'));
const Palette = lazy(() => import('./palette'));

export function Shell() {
  const { tenant } = useParams({ strict: false }) as { tenant: string };
  const { live, client } = useApi();
  const { data: session } = useQuery(sessionQuery(client));
  const [dialog, setDialog] = useState<'help' | 'palette' | null>(null);
  const close = useCallback(() => setDialog(null), []);
  const hasBegun = useHasBegun(tenant);
  const path = useRouterState({ select: ({ location }) => location.pathname.replace(/^\/ui(?=\/)/, '') });
  const content = useFocusOnScreen(path);
  useKeyboard(tenant, setDialog);
  useEffect(() => changeSettings({ tenant }), [tenant]);
  useEffect(() => live.start(tenant), [live, tenant]);
  return (
    <TenantContext value={tenant}>
      <OwnPreferences />
      <a className={styles.skip} href="#content">
        {t.skipToContent}
      </a>
      <div className={styles.frame}>
        <header className={styles.bar}>
          <Link to="/$tenant" params={{ tenant }} className={styles.brand} aria-label={t.product}>
            <Logo />
            <span>{t.product}</span>
          </Link>
          <TenantSelect tenant={tenant} session={session ?? null} />
          <span className={styles.gap} />
          <Button
            look="icon"
            className={styles.commands}
            aria-label={t.nav.commands}
            title={t.nav.commands}
            aria-keyshortcuts="Control+K"
            onClick={() => setDialog('palette')}
          >
            <Search size={17} aria-hidden="true" />
          </Button>
          <LiveBadge />
          <AccountMenu session={session ?? null} onOpen={setDialog} />
        </header>
        <Navigation tenant={tenant} path={path} />
        <main id="content" ref={content} className={styles.content} tabIndex={-1}>
          <OfflineBar />
          <ProblemBoundary resetKey={path}>
            <Suspense fallback={<Loading />}>{hasBegun ? <Outlet /> : <Loading />}</Suspense>
          </ProblemBoundary>
        </main>
      </div>
      <Suspense fallback={null}>
        {dialog === 'help' && <ShortcutsDialog onClose={close} />}
        {dialog === 'palette' && <Palette onClose={close} />}
      </Suspense>
    </TenantContext>
  );
}

/**
 * Moves the focus to a new screen, so that keyboard and screen reader start there. A new tab of the same screen keeps the focus.
 */
function useFocusOnScreen(path: string) {
  const content = useRef<HTMLElement>(null);
  const parts = path.split('/');
  // Paths of the administration have one part more.
  const screen = parts.slice(0, parts[2] === 'admin' ? 5 : 4).join('/');
  const shown = useRef(screen);
  useEffect(() => {
    if (shown.current === screen) return;
    shown.current = screen;
    content.current?.focus({ preventScroll: true });
    content.current?.scrollTo(0, 0);
  }, [screen]);
  return content;
}

function OfflineBar() {
  const isOnline = useIsOnline();
  if (isOnline) return null;
  return (
    <p className={styles.offline} role="alert">
      <WifiOff size={16} aria-hidden="true" /> {t.state.offline}
    </p>
  );
}
