/**
 * The file for pages without a bundler: `<script src="jsonstore.min.js"></script>` makes the globals `WL.JSONStore` and `JSONStore`. A `WL` that
 * is there already is extended, so Worklight's own scripts go first.
 */
import { JSONStore, WL } from './wl.ts'

Object.assign(globalThis, { JSONStore, WL })
