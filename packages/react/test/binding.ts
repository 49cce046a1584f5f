/** React, for the suite that all bindings share. */
import { createElement, StrictMode, Suspense, use, useLayoutEffect, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import type { LiveQuery } from 'pannier'
import type { Binding, HookName, Inputs, Mounted, Person, Shown, Waiting } from '../../stores/testing/binding.ts'
import {
  useCan,
  useCount,
  useDocument,
  useDraft,
  useLiveQuery,
  useRejected,
  useReplication,
  useSync,
  useTabs,
} from '../src/index.ts'

const HOOKS: { readonly [Name in HookName]: (inputs: Inputs[Name]) => Shown[Name] } = {
  live: (inputs) => useLiveQuery(inputs.query, [inputs], inputs),
  count: (inputs) => useCount(inputs.query, [inputs], inputs),
  document: ({ collection, id, initial }) => useDocument(collection, id, { initial }),
  draft: ({ document, save }) => useDraft(document, save),
  sync: ({ client }) => useSync(client),
  rejected: ({ client }) => useRejected(client),
  can: ({ client, question }) => useCan(client, ...question),
  tabs: ({ name }) => useTabs(name),
  replication: ({ db, replication }) => useReplication(db, replication),
}

/** `host` makes an element for each component. */
export function reactBinding(host: () => Element): Binding {
  return {
    mount: (hook, inputs) => mount(host(), HOOKS[hook], inputs),
    mountWaiting: (live) => mountWaiting(host(), live),
  }
}

function mountWaiting(element: Element, live: LiveQuery<Person>): Waiting {
  const renders: Shown['live'][] = []
  const thrown: unknown[] = []
  function People(): ReactNode {
    use(live.ready)
    const shown = useLiveQuery(live)
    useLayoutEffect(() => void renders.push(shown), [shown])
    return null
  }
  const root = createRoot(element, { onUncaughtError: (error) => thrown.push(error) })
  flushSync(() => root.render(createElement(Suspense, null, createElement(People))))
  return { renders, thrown, unmount: () => root.unmount() }
}

function mount<Name extends HookName>(
  host: Element,
  useHook: (inputs: Inputs[Name]) => Shown[Name],
  first: Inputs[Name],
): Mounted<Name> {
  const renders: Shown[Name][] = []
  const thrown: unknown[] = []
  let set = (_inputs: Inputs[Name]): void => {}
  function Component(): ReactNode {
    const [{ inputs }, setInputs] = useState({ inputs: first })
    const shown = useHook(inputs)
    set = (next) => setInputs({ inputs: next })
    // What strict mode renders once more is not on the screen.
    useLayoutEffect(() => {
      if (renders.length === 0 || renders.at(-1) !== shown) renders.push(shown)
    }, [shown])
    return null
  }
  const root = createRoot(host, { onUncaughtError: (error) => thrown.push(error) })
  flushSync(() => root.render(createElement(StrictMode, null, createElement(Component))))
  return {
    renders,
    thrown,
    set: (inputs) => flushSync(() => set(inputs)),
    unmount: () => root.unmount(),
  }
}
