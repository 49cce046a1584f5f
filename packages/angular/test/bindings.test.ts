/** Goal: Angular has each behaviour that all bindings share. Its signals and effects need no page. */
import {
  Injector,
  runInInjectionContext,
  ɵChangeDetectionScheduler as ChangeDetectionScheduler,
  ɵEffectScheduler as EffectScheduler,
  ɵR3Injector as R3Injector,
} from '@angular/core'
import { test } from 'vitest'
import { bindingSuite } from '../../stores/testing/binding-suite.ts'
import { waitingCases } from '../../stores/testing/waiting-cases.ts'
import { angularBinding, type Place } from './binding.ts'

/** An injector of its own. It runs effects that have changed a moment later, as an application does. */
function makePlace(thrown: (error: unknown) => void): Place {
  const caught = (run: () => void): void => {
    try {
      run()
    } catch (error) {
      thrown(error)
    }
  }
  const flush = (): void => {
    if (!injector.destroyed) caught(() => injector.get(EffectScheduler).flush())
  }
  const scheduler = { notify: () => queueMicrotask(flush), runningTick: false }
  const providers = [{ provide: ChangeDetectionScheduler, useValue: scheduler }]
  const injector = new R3Injector(providers, Injector.NULL, 'test', new Set(['environment', 'root', 'platform']))
  return {
    flush,
    run(setup) {
      caught(() => runInInjectionContext(injector, setup))
      flush()
    },
    destroy() {
      if (!injector.destroyed) injector.destroy()
    },
  }
}

bindingSuite({ test, create: () => angularBinding(makePlace) })
waitingCases({ test, create: () => angularBinding(makePlace) })
