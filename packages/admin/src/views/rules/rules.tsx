/** The rules of a collection: each with what it costs, and with a preview of what it lets through. */
import type { ReactNode } from 'react'
import type { Collection, Rule } from '../../api/collections.ts'
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

const { rules: texts } = TEXTS

type RuleName = keyof typeof texts.names
const ACTIONS: Readonly<Partial<Record<RuleName, RuleAction>>> = {
  listRule: 'list',
  viewRule: 'view',
  createRule: 'create',
  updateRule: 'update',
  deleteRule: 'delete',
}

export function View({ collection }: CollectionViewProps): ReactNode {
  const { query } = useRoute()
  // Rules of logins have no action, and no preview.
  const asked = namesOf(collection).find((name) => name in ACTIONS && ACTIONS[name] === query['preview'])
  return (
    <DefinitionView collection={collection}>
      {(draft) => (
        <>
          <p className="def-text">{texts.text}</p>
          {collection.system && <p className="def-text">{texts.ofSystem}</p>}
          {namesOf(collection).map((name) => (
            <RuleCard key={name} name={name} draft={draft} />
          ))}
          {asked !== undefined && (
            <WhoSees
              collection={draft.value}
              action={ACTIONS[asked]!}
              rule={ruleOf(draft.value, asked)}
              title={texts.names[asked]}
              onRule={(rule) => draft.change({ [asked]: rule })}
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

function ruleOf(collection: Collection, name: RuleName): Rule {
  return collection[name] ?? null
}

function RuleCard({ name, draft }: { readonly name: RuleName; readonly draft: DefinitionDraft }): ReactNode {
  const { value, errors } = draft
  const action = ACTIONS[name]
  const rule = ruleOf(value, name)
  return (
    <section className="rule-card" aria-labelledby={`rule-${name}`}>
      <header>
        <h2 id={`rule-${name}`}>{texts.names[name]}</h2>
        {action !== undefined && (
          <Button icon="view" kind="quiet" onPress={() => changeQuery({ preview: action })}>
            {texts.preview[action]}
          </Button>
        )}
      </header>
      <p className="def-text">{texts.help[name]}</p>
      <RuleInput
        collection={value}
        label={texts.names[name]}
        value={rule}
        error={errorAt(errors, name)}
        isDisabled={value.system}
        {...(name === 'authRule' && { words: texts.logins })}
        onValue={(next) => draft.change({ [name]: next })}
      />
      <RuleCost collection={value} rule={rule} isList={name === 'listRule'} />
    </section>
  )
}
