/** Members with their roles: the table, and the dialogs that add, change and remove a member. */
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useMay } from '../api/api-context';
import { t } from '../text/text';
import { Button } from '../ui/button';
import { Panel } from '../ui/panel';
import { SimpleTable } from '../ui/simple-table';
import styles from './admin.module.css';
import type { MembershipChanges, MembershipQuestion, PanelWords } from './membership-changes';
import type { Membership } from './memberships';

const MembershipDialog = lazy(() => import('./membership-dialog'));

export function MembershipPanel({
  words,
  rows,
  changes,
  link,
}: {
  words: PanelWords;
  rows: Membership[];
  changes: MembershipChanges;
  link: (name: string) => ReactNode;
}) {
  const may = useMay();
  const [question, setQuestion] = useState<MembershipQuestion | null>(null);
  return (
    <Panel
      title={words.title}
      side={
        may(changes.add.permission) && <Button onClick={() => setQuestion({ do: 'add' })}>{words.add}</Button>
      }
    >
      {rows.length === 0 ? (
        <p className={styles.quiet}>{words.empty}</p>
      ) : (
        <Members words={words} rows={rows} changes={changes} link={link} onAsk={setQuestion} />
      )}
      {question && (
        <Suspense fallback={null}>
          <MembershipDialog
            question={question}
            words={words}
            changes={changes}
            onClose={() => setQuestion(null)}
          />
        </Suspense>
      )}
    </Panel>
  );
}

function Members({
  words,
  rows,
  changes,
  link,
  onAsk,
}: {
  words: PanelWords;
  rows: Membership[];
  changes: MembershipChanges;
  link: (name: string) => ReactNode;
  onAsk: (question: MembershipQuestion) => void;
}) {
  const may = useMay();
  const { change, remove } = changes;
  const hasRoles = change !== undefined;
  return (
    <SimpleTable
      label={words.title}
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        { name: words.column, cell: ({ name }) => link(name) },
        ...(hasRoles
          ? [
              { name: t.people.role, cell: ({ role }: Membership) => role ?? t.none },
              { name: t.people.via, cell: ({ via }: Membership) => via.join(', ') || t.none },
            ]
          : []),
        {
          name: t.people.actions,
          cell: (row) => (
            <span className={styles.actions}>
              {change && row.role !== null && may(change.permission) && (
                <Button onClick={() => onAsk({ do: 'change', row })}>{t.people.changeRole}</Button>
              )}
              {(row.role !== null || !hasRoles) && may(remove.permission) && (
                <Button
                  aria-label={t.people.removeName(row.name)}
                  onClick={() => onAsk({ do: 'remove', row })}
                >
                  {t.people.remove}
                </Button>
              )}
            </span>
          ),
        },
      ]}
    />
  );
}
