import { useState } from 'react';
import { visible } from '../source/text-lines';
import { t } from '../text/text';
import { ConfirmDialog } from '../ui/confirm-dialog';
import { FormDialog } from '../ui/form-dialog';
import { TextField } from '../ui/inputs';
import { type Project, pathProblem, renamed, without, withText } from './project';

export type FileAction = { kind: 'add' } | { kind: 'rename' | 'remove'; path: string };

interface FileDialogsProps {
  action: FileAction;
  project: Project;
  /** `shown`: the file to open afterwards. */
  onProject: (project: Project, shown: string) => void;
  onClose: () => void;
}

const NO_REQUEST = { isPending: false, error: null };

export default function FileDialogs({ action, project, onProject, onClose }: FileDialogsProps) {
  const [path, setPath] = useState(action.kind === 'rename' ? action.path : '');
  const [errors, setErrors] = useState<Record<string, string>>({});
  if (action.kind === 'remove')
    return (
      <ConfirmDialog
        title={t.editor.removeTitle(visible(action.path))}
        text={t.editor.removeText}
        action={t.editor.remove}
        mutation={{
          ...NO_REQUEST,
          mutate: () => {
            onProject(without(project, action.path), project.mainFile);
            onClose();
          },
        }}
        onClose={onClose}
      />
    );
  const submit = (): void => {
    const wanted = path.trim();
    const others = action.kind === 'rename' ? without(project, action.path) : project;
    const problem = pathProblem(wanted, others);
    setErrors(problem ? { path: t.editor.paths[problem] } : {});
    if (problem) return;
    onProject(
      action.kind === 'rename' ? renamed(project, action.path, wanted) : withText(project, wanted, ''),
      wanted,
    );
    onClose();
  };
  return (
    <FormDialog
      title={action.kind === 'rename' ? t.editor.renameTitle(visible(action.path)) : t.editor.addTitle}
      submit={action.kind === 'rename' ? t.editor.rename : t.editor.create}
      mutation={NO_REQUEST}
      errors={errors}
      onSubmit={submit}
      onClose={onClose}
    >
      {(errorOf) => (
        <TextField label={t.editor.path} error={errorOf('path')} isRequired value={path} onChange={setPath} />
      )}
    </FormDialog>
  );
}
