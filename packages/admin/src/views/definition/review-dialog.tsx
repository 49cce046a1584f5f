/** A change as a migration: what becomes different, which values are lost, and the file that does the same elsewhere. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { checkChange, updateCollection } from '../../api/definitions.ts'
import type { CheckedChange, Misfit } from '../../api/definitions.ts'
import { ApiError } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy.ts'
import { CancelButton, Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loading.tsx'
import { errorText, reportError, showDone } from '../../parts/toasts.tsx'
import { reloadCollections } from '../../state/collections.ts'
import { goTo, linkTo } from '../../state/route.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { changesBetween } from './changes.ts'
import type { Change } from './changes.ts'
import { changeOf, errorsIn } from './drafts.ts'
import type { DefinitionDraft } from './drafts.ts'

const { review: texts } = TEXTS
const LOST = 'change_loses_value'
const ICONS = { add: 'add', change: 'edit', remove: 'trash' } as const

interface ReviewDialogProps {
  readonly draft: DefinitionDraft
  readonly onClose: () => void
}

export function ReviewDialog({ draft, onClose }: ReviewDialogProps): ReactNode {
  const { base, value } = draft
  const [checked, setChecked] = useState<CheckedChange>()
  const [refusal, setRefusal] = useState('')
  const refuse = (error: unknown): void => {
    draft.refuse(error)
    // What is wrong with a field is shown beside it, and all of it in the bar.
    if (error instanceof ApiError && Object.keys((errorsIn(error) ?? {}) as object).length > 0) onClose()
    else setRefusal(errorText(error))
  }
  useEffect(() => {
    checkChange(base.id, changeOf(draft)).then((answer) => {
      // What was wrong before is right now.
      draft.refuse(undefined)
      setChecked(answer)
    }, refuse)
    // It is about the draft as it was when the dialog was opened.
  }, [])
  const save = async (): Promise<void> => {
    try {
      const saved = await updateCollection(base.id, changeOf(draft))
      draft.reset()
      onClose()
      await reloadCollections()
      showDone(texts.saved(saved.name))
      if (saved.name !== base.name) goTo(['fields', saved.name], {}, { replaces: true })
    } catch (error) {
      refuse(error)
    }
  }
  const loses = checked?.misfits.some(({ error }) => error.code === LOST) === true
  const footer = (
    <>
      <CancelButton />
      <Button kind={loses ? 'danger' : 'primary'} disabled={checked === undefined} onPress={save}>
        {loses ? texts.saveAndLose : texts.save}
      </Button>
    </>
  )
  return (
    <Dialog title={texts.title(base.name)} place="side" onClose={onClose} footer={footer}>
      <div className="review">
        {refusal !== '' && (
          <p className="refusal" role="alert">
            {refusal}
          </p>
        )}
        <ChangeList changes={changesBetween(base, value)} />
        {checked === undefined && refusal === '' && <Loading />}
        {checked !== undefined && <Misfits collection={base} misfits={checked.misfits} />}
        {typeof checked?.migration === 'string' && <Migration text={checked.migration} />}
      </div>
    </Dialog>
  )
}

export function ChangeList({ changes }: { readonly changes: readonly Change[] }): ReactNode {
  return (
    <ul className="changes">
      {changes.map(({ kind, text, from, to }, at) => (
        <li key={at} className={`change change-${kind}`}>
          <Icon name={ICONS[kind]} />
          <span className="hidden-text">{texts.kinds[kind]}</span>
          <div>
            <p>{text}</p>
            {from !== undefined && <del>{from}</del>}
            {to !== undefined && <ins>{to}</ins>}
          </div>
        </li>
      ))}
    </ul>
  )
}

function Misfits({
  collection,
  misfits,
}: {
  readonly collection: Collection
  readonly misfits: readonly Misfit[]
}): ReactNode {
  if (misfits.length === 0) return <p className="review-good">{texts.nothingLost}</p>
  return (
    <section aria-labelledby="misfits">
      <h3 id="misfits">{texts.data}</h3>
      <ul className="changes">
        {misfits.map(({ field, error, count, ids }) => (
          <li
            key={`${field} ${error.code}`}
            className={`change ${error.code === LOST ? 'change-remove' : 'change-change'}`}
          >
            <Icon name="error" />
            <div>
              <p>{error.code === LOST ? texts.lost(field, count) : texts.wrong(field, count, error.message)}</p>
              <p className="review-ids">
                {texts.such}{' '}
                {ids.map((id) => (
                  <a key={id} href={linkTo(['records', collection.name], { record: id })}>
                    {id}
                  </a>
                ))}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Migration({ text }: { readonly text: string }): ReactNode {
  return (
    <details className="review-migration">
      <summary>{texts.migration}</summary>
      <p>{texts.migrationText}</p>
      <Button icon="copy" onPress={() => copyText(text).catch(reportError)}>
        {texts.copy}
      </Button>
      <pre tabIndex={0}>{text}</pre>
    </details>
  )
}
