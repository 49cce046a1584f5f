/** The rules of a collection: each with what it costs, and with a preview of what it lets through. */
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import type { RuleAction } from '../../api/definitions.ts'
import { Button } from '../../parts/button.tsx'
import { changeQuery, useRoute } from '../../state/route.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { DefinitionView } from '../definition/definition-view.tsx'
import { errorAt } from '../definition/drafts.ts'
import type { DefinitionDraft } from '../definition/drafts.ts'
import { RuleInput } from '../rule-input.tsx'
import type { CollectionViewProps } from '../view.ts'
import { RuleCost } from './rule-cost.tsx'
import { WhoSees } from './who-sees.tsx'
import sheet from './rules.css'

const { rules: texts } = TEXTS

type RuleName = keyof typeof texts.names
const ACTIONS: Readonly<Record<RuleName, RuleAction>> = {
  listRule: 'list',
  viewRule: 'view',
  createRule: 'create',
  updateRule: 'update',
  deleteRule: 'delete',
  authRule: 'auth',
  manageRule: 'manage',
}

export function View({ collection }: CollectionViewProps): ReactNode {
  const { query } = useRoute()
  const asked = namesOf(collection).find((name) => ACTIONS[name] === query['preview'])
  return (
    <DefinitionView collection={collection}>
      {(draft) => (
        <>
          <link rel="stylesheet" href={sheet} precedence="page" />
          <p className="def-text">{texts.text}</p>
          {collection.system && <p className="def-text">{texts.ofSystem}</p>}
          {namesOf(collection).map((name) => (
            <RuleCard key={name} name={name} draft={draft} />
          ))}
          {asked !== undefined && (
            <WhoSees
              key={asked}
              collection={draft.value}
              asked={{ action: ACTIONS[asked], rule: draft.value[asked] ?? null }}
              title={texts.preview[ACTIONS[asked]]}
              ruleInput={<RuleOf name={asked} draft={draft} />}
              onClose={() => changeQuery({ preview: undefined })}
            />
          )}
        </>
      )}
    </DefinitionView>
  )
}

function namesOf({ type }: Collection): readonly RuleName[] {
  if (type === 'view') return ['listRule', 'viewRule']
  const ofRecords: readonly RuleName[] = ['listRule', 'viewRule', 'createRule', 'updateRule', 'deleteRule']
  return type === 'auth' ? [...ofRecords, 'authRule', 'manageRule'] : ofRecords
}

interface RuleProps {
  readonly name: RuleName
  readonly draft: DefinitionDraft
}

function RuleCard({ name, draft }: RuleProps): ReactNode {
  const action = ACTIONS[name]
  return (
    <section className="rule-card" aria-labelledby={`rule-${name}`}>
      <header>
        <h2 id={`rule-${name}`}>{texts.names[name]}</h2>
        <Button icon="view" kind="quiet" onPress={() => changeQuery({ preview: action })}>
          {texts.preview[action]}
        </Button>
      </header>
      <p className="def-text">{texts.help[name]}</p>
      <RuleOf name={name} draft={draft} />
      <RuleCost collection={draft.value} rule={draft.value[name] ?? null} isList={name === 'listRule'} />
    </section>
  )
}

function RuleOf({ name, draft: { value, errors, change } }: RuleProps): ReactNode {
  return (
    <RuleInput
      collection={value}
      label={texts.names[name]}
      value={value[name] ?? null}
      error={errorAt(errors, name)}
      isDisabled={value.system}
      {...(name === 'authRule' && { words: texts.logins })}
      onValue={(next) => change({ [name]: next })}
    />
  )
}
