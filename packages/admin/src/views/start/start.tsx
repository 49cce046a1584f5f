/** The first steps on a server: make a collection, or load an example. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { showDone, showError } from '../../parts/toasts.tsx'
import { findCollection, reloadCollections, useCollections } from '../../state/collections.ts'
import { goTo, linkTo } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'
import { START } from '../../texts/start.ts'
import { NewCollectionForm } from './new-collection-form.tsx'
import sheet from './start.css'

export function Start(): ReactNode {
  return (
    <div className="start">
      <link rel="stylesheet" href={sheet} precedence="page" />
      <header>
        <h1>{TEXTS.shell.welcome}</h1>
        <p>{START.text}</p>
      </header>
      <div className="start-ways">
        <section className="panel" aria-labelledby="start-make">
          <h2 id="start-make">
            <Icon name="collection" /> {START.make}
          </h2>
          <p>{START.makeText}</p>
          <NewCollectionForm />
          <p className="start-more">
            <a href={linkTo(['new'])}>{START.moreTypes}</a>
          </p>
        </section>
        <Example />
      </div>
    </div>
  )
}

function Example(): ReactNode {
  const { list } = useCollections()
  const [progress, setProgress] = useState<readonly [done: number, all: number]>()
  const load = async (): Promise<void> => {
    const { EXAMPLE, loadExample } = await import('./example.ts')
    if (EXAMPLE.some(({ name }) => findCollection(list, name) !== undefined)) return showError(START.exampleThere)
    try {
      await loadExample((done, all) => setProgress([done, all]))
    } finally {
      setProgress(undefined)
      await reloadCollections()
    }
    showDone(START.exampleLoaded)
    goTo(['records', 'articles'])
  }
  return (
    <section className="panel" aria-labelledby="start-example">
      <h2 id="start-example">
        <Icon name="list" /> {START.example}
      </h2>
      <p>{START.exampleText}</p>
      <Button icon="download" onPress={load}>
        {START.loadExample}
      </Button>
      {progress !== undefined && (
        <label className="progress">
          <progress value={progress[0]} max={progress[1]} />
          <span>{START.progress(...progress)}</span>
        </label>
      )}
    </section>
  )
}
