/** Saves the filters of a list under a name, and restores them. */
import { useQuery } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { Bookmark, Trash2 } from 'lucide-react';
import { type FormEvent, useCallback, useRef, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { sessionQuery } from '../api/session';
import { useChange } from '../api/use-change';
import { parseSearch } from '../search-params';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Check } from '../ui/field';
import { TextField } from '../ui/inputs';
import { InlineProblem, Loaded } from '../ui/states';
import { useCloseOutside } from '../ui/use-close-outside';
import styles from './saved-views.module.css';
import { faultOf, screenOf, viewsOf } from './view-rules';
import { deleteView, type SavedView, saveView, VIEWS, viewsQuery } from './views';

export function SavedViews() {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const close = useCallback(() => setOpen(false), []);
  useCloseOutside(box, isOpen, close);
  return (
    <div className={styles.box} ref={box}>
      <Button aria-expanded={isOpen} aria-controls="views" onClick={() => setOpen(!isOpen)}>
        <Bookmark size={15} aria-hidden="true" /> {t.views.title}
      </Button>
      {isOpen && (
        <section id="views" className={styles.panel} aria-label={t.views.title}>
          <Views onPick={close} />
        </section>
      )}
    </div>
  );
}

function Views({ onPick }: { onPick: () => void }) {
  const { client } = useApi();
  const query = useQuery(viewsQuery(client, useTenant()));
  const { data: session } = useQuery(sessionQuery(client));
  const { path, search } = useRouterState({
    select: ({ location }) => ({
      path: location.pathname.replace(/^\/ui(?=\/)/, ''),
      search: location.searchStr,
    }),
    structuralSharing: true,
  });
  const screen = screenOf(path);
  const username = session?.username ?? '';
  return (
    <Loaded query={query}>
      {(views) => (
        <>
          <ViewList
            views={viewsOf(views, screen, username)}
            search={search}
            username={username}
            onPick={onPick}
          />
          <SaveForm views={views} screen={screen} search={search} username={username} />
        </>
      )}
    </Loaded>
  );
}

const queryOf = (search: string): string => search.replace(/^\?/, '');

function ViewList({
  views,
  search,
  username,
  onPick,
}: {
  views: SavedView[];
  search: string;
  username: string;
  onPick: () => void;
}) {
  const remove = useChange([VIEWS], (client, tenant, name: string) => deleteView(client, tenant, name));
  if (views.length === 0) return <p className={styles.quiet}>{t.views.none}</p>;
  return (
    <>
      <ul className={styles.list}>
        {views.map((view) => (
          <li key={`${view.created_by} ${view.name}`}>
            <Link
              to="."
              search={parseSearch(view.query) as never}
              aria-current={view.query === queryOf(search) ? 'true' : undefined}
              onClick={onPick}
            >
              {view.name}
            </Link>
            {view.created_by === username ? (
              <Button
                look="icon"
                aria-label={t.views.remove(view.name)}
                title={t.views.remove(view.name)}
                disabled={remove.isPending}
                onClick={() => remove.mutate(view.name)}
              >
                <Trash2 size={15} aria-hidden="true" />
              </Button>
            ) : (
              <span className={styles.quiet}>{t.views.by(view.created_by)}</span>
            )}
          </li>
        ))}
      </ul>
      <InlineProblem error={remove.error} />
    </>
  );
}

function SaveForm({
  views,
  screen,
  search,
  username,
}: {
  views: readonly SavedView[];
  screen: string;
  search: string;
  username: string;
}) {
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const save = useChange([VIEWS], saveView, () => setName(''));
  const query = queryOf(search);
  if (query === '') return <p className={styles.quiet}>{t.views.nothing}</p>;
  const fault = faultOf(name, views, screen, username);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '' && !fault) save.mutate({ name: name.trim(), screen, query, is_shared: isShared });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField label={t.views.name} value={name} onChange={setName} error={fault} />
      <Check label={t.views.share} isChecked={isShared} onChange={setShared} />
      <InlineProblem error={save.error} />
      <Button type="submit" look="main" disabled={name.trim() === '' || fault !== null || save.isPending}>
        {t.views.save}
      </Button>
    </form>
  );
}
