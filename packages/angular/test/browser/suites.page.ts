/** The suite of the bindings with Angular in a page: each component is one of an application. */
import '@angular/compiler'
import {
  Component,
  createComponent,
  ErrorHandler,
  provideZonelessChangeDetection,
  runInInjectionContext,
} from '@angular/core'
import { createApplication } from '@angular/platform-browser'
import { runCases } from '../../../../tools/browser/page/run-cases.ts'
import { pageSuite } from '../../../stores/testing/binding-suite.ts'
import { angularBinding, type Place } from '../binding.ts'

/** The errors of the component that was made last. */
let report = (_error: unknown): void => {}

const application = await createApplication({
  providers: [
    provideZonelessChangeDetection(),
    { provide: ErrorHandler, useValue: { handleError: (error: unknown) => report(error) } },
  ],
})

class Nothing {}
const NothingComponent = Component({ selector: 'app-nothing', template: '' })(Nothing)

function makePlace(thrown: (error: unknown) => void): Place {
  report = thrown
  const component = createComponent(NothingComponent, { environmentInjector: application.injector })
  application.attachView(component.hostView)
  return {
    flush: () => application.tick(),
    run(setup) {
      try {
        runInInjectionContext(component.injector, setup)
        application.tick()
      } catch (error) {
        thrown(error)
      }
    },
    destroy() {
      if (!component.hostView.destroyed) component.destroy()
    },
  }
}

await runCases((test) => pageSuite({ test, create: () => angularBinding(makePlace) }))
