/** Saves the project as a blueprint: creates an archive and uploads it. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTenant } from '../api/api-context';
import { blueprintKeys, uploadBlueprint } from '../api/blueprints';
import { useChange } from '../api/use-change';
import { t } from '../text/text';
import { FormDialog } from '../ui/form-dialog';
import { TextField } from '../ui/inputs';
import cells from '../ui/row-cells.module.css';
import { type Visibility, VisibilityField } from '../ui/visibility';
import { writeArchive } from './archive';
import { entriesOf, type Project } from './project';

interface SaveDialogProps {
  project: Project;
  suggestedId: string;
  visibility: Visibility;
  /** The suggested id belongs to a failed upload: saving replaces it. */
  isOver: boolean;
  isValid: boolean;
  onSaved: () => void;
  onClose: () => void;
}

const TOP_FOLDER = 'blueprint';

export default function SaveDialog(props: SaveDialogProps) {
  const { project, isOver, isValid, onSaved, onClose } = props;
  const tenant = useTenant();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [id, setId] = useState(props.suggestedId);
  const [visibility, setVisibility] = useState(props.visibility);
  const save = useChange(
    ['blueprints'],
    async (client, ofTenant) =>
      uploadBlueprint(client, ofTenant, {
        id: id.trim(),
        archive: await writeArchive(entriesOf(project), TOP_FOLDER),
        mainFile: project.mainFile,
        visibility,
      }),
    () => {
      onSaved();
      cache.removeQueries({ queryKey: blueprintKeys.one(tenant, id.trim()) });
      void navigate({
        to: '/$tenant/blueprints/$id/$tab',
        params: { tenant, id: id.trim(), tab: 'overview' },
      });
    },
  );
  return (
    <FormDialog
      title={t.editor.saveTitle}
      submit={t.editor.saveSubmit}
      mutation={save}
      isIncomplete={id.trim() === ''}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <p>{t.editor.saveText}</p>
          {!isValid && <p className={cells.bad}>{t.editor.saveAnyway}</p>}
          <TextField
            label={t.upload.id}
            hint={isOver ? t.editor.saveOver : t.upload.idHint}
            error={errorOf('id') ?? errorOf('blueprint_id')}
            isRequired
            value={id}
            onChange={setId}
          />
          <VisibilityField value={visibility} error={errorOf('visibility')} onChange={setVisibility} />
        </>
      )}
    </FormDialog>
  );
}
