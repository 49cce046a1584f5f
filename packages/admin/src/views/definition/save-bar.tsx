/** Says that there are changes, and what the server has refused of them. Nothing is saved before it was shown what happens. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../state/question.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { allErrors } from './drafts.ts'
import type { DefinitionDraft } from './drafts.ts'
import { ReviewDialog } from './review-dialog.tsx'

const { save: texts } = TEXTS

export function SaveBar({ draft }: { readonly draft: DefinitionDraft }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  if (!draft.isChanged) return null
  const errors = allErrors(draft.errors)
  const discard = async (): Promise<void> => {
    const question = { title: texts.discard, text: texts.discardText, yes: texts.discardYes, isDanger: true }
    if (await confirm(question)) draft.reset()
  }
  return (
    <section className="save-bar" aria-label={texts.region}>
      {errors.length > 0 && (
        <div className="refusal" role="alert">
          <ul>
            {errors.map(([path, message]) => (
              <li key={path}>
                <code>{nameOf(path, draft)}</code> {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      {draft.isStale && (
        <p className="refusal" role="alert">
          {texts.stale}
        </p>
      )}
      <b role="status">{texts.unsaved}</b>
      <Button onPress={discard}>{texts.discardAction}</Button>
      <Button kind="primary" icon="check" onPress={() => setOpen(true)}>
        {texts.review}
      </Button>
      {isOpen && <ReviewDialog draft={draft} onClose={() => setOpen(false)} />}
    </section>
  )
}

/** `fields.3.max` is the option of a field, which has a name. */
function nameOf(path: string, { value }: DefinitionDraft): string {
  const [, place, rest = ''] = /^fields\.(\d+)(.*)$/.exec(path) ?? []
  return place === undefined ? path : `${value.fields[Number(place)]?.name ?? place}${rest}`
}
