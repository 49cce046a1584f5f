/** The answers of a rule for a chosen account, before it is saved. The server asks it as its doors do. */
import type { RulePreview } from '@pannier/backend'
import { isObject } from '../../api/request.ts'
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { previewRule } from '../../api/definitions.ts'
import type { PreviewQuestion } from '../../api/definitions.ts'
import { Button } from '../../parts/button.tsx'
import { CodeEditor } from '../../parts/code-editor/code-editor.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { useEnvironment } from '../../environment.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { titleOf } from '../field-types.ts'
import { useRuleCheck } from '../rule-editor.tsx'
import { AccountChoice } from '../account-choice.tsx'
import type { ChosenAccount } from '../account-choice.tsx'
import { Reason } from './reason.tsx'

const { who: texts } = TEXTS
const TYPING_MS = 300
const PER_PAGE = 20

interface WhoSeesProps {
  readonly collection: Collection
  readonly asked: Required<Pick<PreviewQuestion, 'action' | 'rule'>> & Pick<PreviewQuestion, 'field'>
  readonly title: string
  /** Where the rule is changed. */
  readonly ruleInput: ReactNode
  readonly onClose: () => void
}

export function WhoSees({ collection, asked, title, ruleInput, onClose }: WhoSeesProps): ReactNode {
  const [account, setAccount] = useState<ChosenAccount>()
  const [collectionOfAccount, setCollectionOfAccount] = useState('')
  const [bodyText, setBodyText] = useState('{}')
  const [page, setPage] = useState(1)
  const body = parsed(bodyText)
  const { action } = asked
  const hasBody = action === 'create' || action === 'update' || action === 'manage'
  const question: PreviewQuestion = {
    ...asked,
    account: account === undefined ? null : { collection: account.collection, record: account.row.id },
    ...(hasBody && { body: body ?? {} }),
    page,
    perPage: PER_PAGE,
  }
  return (
    <Dialog title={title} place="side" onClose={onClose}>
      <div className="who">
        {action !== 'auth' && (
          <AccountChoice
            label={texts.as}
            guest={texts.guest}
            collection={collectionOfAccount}
            chosen={account}
            onChoose={(chosen, name) => {
              setAccount(chosen)
              setCollectionOfAccount(name)
            }}
          />
        )}
        {ruleInput}
        {hasBody && (
          <div className="field">
            <p className="field-label">{texts.body}</p>
            <div className="rule-text">
              <CodeEditor language="json" label={texts.body} value={bodyText} onValue={setBodyText} />
            </div>
            {body === undefined && <p className="field-error">{texts.noJson}</p>}
          </div>
        )}
        <Answers collection={collection} question={question} account={account} onPage={setPage} />
      </div>
    </Dialog>
  )
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

interface AnswersProps {
  readonly collection: Collection
  readonly question: PreviewQuestion
  readonly account: ChosenAccount | undefined
  readonly onPage: (page: number) => void
}

function Answers({ collection, question, account, onPage }: AnswersProps): ReactNode {
  const { preview, error } = usePreview(collection, question)
  const [open, setOpen] = useState<string>()
  if (error !== undefined)
    return (
      <p className="refusal" role="alert">
        {errorText(error)}
      </p>
    )
  if (preview === undefined) return <p role="status">{texts.asking}</p>
  const { items, totalItems, admittedItems, plan } = preview
  const { action, page = 1 } = question
  if (action === 'create')
    return <Reason collection={collection} preview={preview} record={items[0]!.record} account={account} />
  const admitted = items.filter(({ isAdmitted }) => isAdmitted).length
  return (
    <section aria-label={texts.answers}>
      <p className="who-sum" role="status">
        {admittedItems >= 0 ? texts.admitted(admittedItems, totalItems) : texts.admittedHere(admitted, items.length)}
      </p>
      <ul className="who-list">
        {items.map(({ record, isAdmitted }) => (
          <li key={record.id} className={isAdmitted ? 'who-yes' : 'who-no'}>
            <button
              type="button"
              aria-expanded={open === record.id}
              onClick={() => setOpen(open === record.id ? undefined : record.id)}
            >
              <Icon name={isAdmitted ? 'check' : 'close'} />
              <span className="hidden-text">{isAdmitted ? texts.yes : texts.no}</span>
              <span className="who-title">{titleOf(collection, record)}</span>
              <code>{record.id}</code>
            </button>
            {open === record.id && (
              <ReasonOf collection={collection} question={{ ...question, record: record.id }} account={account} />
            )}
          </li>
        ))}
      </ul>
      {items.length === 0 && <p>{texts.none}</p>}
      <Pages page={page} isLast={page * PER_PAGE >= totalItems} onPage={onPage} />
      {plan !== undefined && (
        <details className="cost">
          <summary>{plan.isExact ? texts.planExact : texts.planTested}</summary>
          <pre tabIndex={0}>{plan.text}</pre>
        </details>
      )}
    </section>
  )
}

/** Why one record is let through, or is not. */
function ReasonOf({ collection, question, account }: Omit<AnswersProps, 'onPage'>): ReactNode {
  const { preview, error } = usePreview(collection, question)
  if (error !== undefined) return <p className="refusal">{errorText(error)}</p>
  const [item] = preview?.items ?? []
  if (preview === undefined || item === undefined) return <p role="status">{texts.asking}</p>
  return <Reason collection={collection} preview={preview} record={item.record} account={account} />
}

function Pages({
  page,
  isLast,
  onPage,
}: {
  readonly page: number
  readonly isLast: boolean
  readonly onPage: (page: number) => void
}): ReactNode {
  if (page === 1 && isLast) return null
  return (
    <div className="who-pages">
      <Button icon="back" disabled={page === 1} onPress={() => onPage(page - 1)}>
        {texts.previous}
      </Button>
      <Button disabled={isLast} onPress={() => onPage(page + 1)}>
        {texts.next}
      </Button>
    </div>
  )
}

interface PreviewState {
  readonly preview?: RulePreview
  readonly error?: unknown
}

/** The answer before stays until there is another one. A rule that is wrong is not asked. */
function usePreview(collection: Collection, question: PreviewQuestion): PreviewState {
  const environment = useEnvironment()
  const [asked, setAsked] = useState<PreviewState>({})
  const mistakesIn = useRuleCheck(collection)
  const { rule } = question
  const isRight = rule === null || rule === '' || mistakesIn(rule).length === 0
  const key = JSON.stringify(question)
  useEffect(() => {
    if (!isRight) return undefined
    const controller = new AbortController()
    const ask = (): void => {
      previewRule(collection.id, JSON.parse(key) as PreviewQuestion, controller.signal).then(
        (preview) => setAsked({ preview }),
        (error: unknown) => {
          if (!controller.signal.aborted) setAsked({ error })
        },
      )
    }
    const cancel = environment.after(TYPING_MS, ask)
    return () => {
      cancel()
      controller.abort()
    }
  }, [environment, collection.id, key, isRight])
  return asked
}
