/** The view that the address names. */
import { Suspense, lazy, useEffect } from 'react'
import type { ComponentType, ReactNode } from 'react'
import type { Collection } from '../api/collections.ts'
import { Button } from '../parts/button.tsx'
import { Boundary } from '../parts/boundary.tsx'
import { Failed, Loading, Notice } from '../parts/loading.tsx'
import { findCollection, reloadCollections, useCollections } from '../state/collections.ts'
import { onDemand } from '../state/on-demand.ts'
import { keep, readKept } from '../state/kept.ts'
import { goTo, useRoute } from '../state/route.ts'
import { TEXTS } from '../texts.ts'
import { COLLECTION_VIEWS, SERVER_VIEWS } from '../views.ts'
import { CollectionTabs } from '../views/view.ts'
import type { CollectionViewProps, ServerViewProps } from '../views/view.ts'

const Start = lazy(async () => ({ default: (await onDemand(() => import('../views/start/start.tsx'))).Start }))
const NewCollection = lazily(() => import('../views/definition/new-collection.tsx'))
const collectionViews = new Map(COLLECTION_VIEWS.map(({ name, load }) => [name, lazily(load)]))
const serverViews = new Map(SERVER_VIEWS.map(({ name, load }) => [name, lazily(load)]))

/** Which collection was open last. */
const LAST = 'collection'

export function Content(): ReactNode {
  const { path } = useRoute()
  const collections = useCollections()
  const [name = '', second = '', ...rest] = path
  if (collections.list.length === 0)
    return collections.status === 'failed' ? (
      <Failed error={collections.error} onRetry={reloadCollections} />
    ) : (
      <Loading />
    )
  return (
    // A view of the server stays while its parts change.
    <Boundary key={serverViews.has(name) ? name : `${name} ${second}`}>
      <CollectionTabs value={COLLECTION_VIEWS}>
        <Suspense fallback={<Begun name={name} collection={second} />}>
          {viewOf(name, second, rest, collections.list)}
        </Suspense>
      </CollectionTabs>
    </Boundary>
  )
}

/** A view is loaded when it is first shown. Its title is there before, for screen readers. */
function Begun({ name, collection }: Readonly<Record<'name' | 'collection', string>>): ReactNode {
  const title = SERVER_VIEWS.find((view) => view.name === name)?.title ?? collection
  return (
    <>
      <h1 className="hidden-text">{title === '' ? TEXTS.shell.welcome : title}</h1>
      <Loading />
    </>
  )
}

function viewOf(name: string, second: string, rest: readonly string[], list: readonly Collection[]): ReactNode {
  if (name === '') return <Home list={list} />
  if (name === 'start') return <Start />
  if (name === 'new') return <NewCollection rest={[]} />
  const OfServer = serverViews.get(name)
  if (OfServer !== undefined) return <OfServer rest={[second, ...rest].filter((part) => part !== '')} />
  const OfCollection = collectionViews.get(name)
  const collection = findCollection(list, second)
  if (OfCollection === undefined || collection === undefined) return <Missing name={second} />
  return <Known view={OfCollection} collection={collection} rest={rest} />
}

interface KnownProps extends CollectionViewProps {
  readonly view: ComponentType<CollectionViewProps>
}

function Known({ view: View, collection, rest }: KnownProps): ReactNode {
  useEffect(() => keep(LAST, collection.id), [collection.id])
  return <View key={collection.id} collection={collection} rest={rest} />
}

/** Opens the collection that was open last, or the first one; on a new server the first steps. */
function Home({ list }: { readonly list: readonly Collection[] }): ReactNode {
  useEffect(() => {
    const own = list.filter(({ system }) => !system)
    const collection = findCollection(list, readKept<string>(LAST) ?? '') ?? own[0]
    // A new server has no other collection than that of its users.
    const isNew = own.every(({ name }) => name === 'users')
    if (isNew || collection === undefined) goTo(['start'], {}, { replaces: true })
    else goTo([COLLECTION_VIEWS[0]!.name, collection.name], {}, { replaces: true })
  }, [list])
  return <Loading />
}

function Missing({ name }: { readonly name: string }): ReactNode {
  return (
    <Notice icon="search" title={TEXTS.shell.missing} text={name === '' ? '' : TEXTS.shell.missingText(name)}>
      <Button onPress={() => goTo([])}>{TEXTS.shell.home}</Button>
    </Notice>
  )
}

function lazily<P extends CollectionViewProps | ServerViewProps>(
  load: () => Promise<{ readonly View: ComponentType<P> }>,
): ComponentType<P> {
  return lazy(async () => ({ default: (await onDemand(load)).View })) as unknown as ComponentType<P>
}
