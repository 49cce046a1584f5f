/** `@pannier/pocketbase`: runs `pb_hooks` and `pb_migrations` of a PocketBase project as they are. */
export { bindPocketBaseHooks } from './host/bind.ts'
export type { HookBinders, PocketBaseHooks } from './host/bind.ts'
export { pocketBaseSteps } from './host/migration-steps.ts'
