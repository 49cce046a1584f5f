/**
 * The code inside QuickJS around the functions of a design document. It compiles them, gives them CouchDB's helpers
 * (`emit`, `log`, `sum`, `toJSON`, `isArray`, `require`), and exchanges JSON with the thread outside.
 *
 * It takes the built-in functions that it needs before a function of the document can replace them. Its answers are
 * checked outside nevertheless. So functions can only deceive the users of their own design document.
 */
import { LOG_LINE_CHARS_MAX, LOG_LINES_MAX } from './protocol.ts'

/** Starts an answer with logged lines: this mark, the lines as JSON, a line feed (JSON text has none). */
export const LOG_MARK = 'L'

/** An expression: a function of the program and the limits that returns the function to call. */
export const PROGRAM_SOURCE: string = String.raw`(function (functionsText, modulesText, rowsMax, charsMax) {
  'use strict'
  const { parse, stringify } = JSON
  const { isArray } = Array
  const { defineProperty, hasOwn } = Object
  const makeFunction = Function
  const evaluate = eval
  const toText = String
  const call = makeFunction.prototype.call.bind(makeFunction.prototype.call)
  const global = globalThis

  const sources = parse(functionsText)
  const modules = parse(modulesText)
  const compiled = { __proto__: null }
  const loaded = { __proto__: null }
  let rows
  let lines = []

  const helper = (name, value) => defineProperty(global, name, { value, writable: true, configurable: true })
  helper('emit', function emit(key, value) {
    if (rows === undefined) throw new Error('emit is for map functions')
    if (rows.length >= rowsMax) throw new RangeError('more than ' + rowsMax + ' rows of one document')
    rows[rows.length] = [key, value]
  })
  helper('log', function log(message) {
    if (lines.length >= ${LOG_LINES_MAX}) return
    const text = typeof message === 'string' ? message : stringify(message)
    lines[lines.length] = toText(text).slice(0, ${LOG_LINE_CHARS_MAX})
  })
  helper('sum', function sum(values) {
    let total = 0
    for (let at = 0; at < values.length; at++) total += values[at]
    return total
  })
  helper('toJSON', function toJSON(value) { return stringify(value) })
  helper('isArray', function (value) { return isArray(value) })
  helper('require', requireFrom([]))

  function requireFrom(folder) {
    return function require(path) {
      const segments = path[0] === '.' ? folder.slice() : []
      for (const segment of toText(path).split('/')) {
        if (segment === '..') segments.pop()
        else if (segment !== '' && segment !== '.') segments.push(segment)
      }
      let found = modules
      for (const segment of segments)
        found = typeof found === 'object' && found !== null && hasOwn(found, segment) ? found[segment] : undefined
      if (typeof found !== 'string') throw new Error("there is no module '" + path + "' in this design document")
      const name = segments.join('/')
      if (loaded[name] !== undefined) return loaded[name].exports
      const module = (loaded[name] = { id: name, exports: {} })
      try {
        const body = makeFunction('module', 'exports', 'require', found)
        call(body, module.exports, module, module.exports, requireFrom(segments.slice(0, -1)))
      } catch (error) {
        delete loaded[name]
        throw error
      }
      return module.exports
    }
  }

  function functionOf(name) {
    if (compiled[name] !== undefined) return compiled[name]
    const source = sources[name].replace(/[\s;]+$/, '')
    const made = evaluate('(' + source + '\n)')
    if (typeof made !== 'function') throw new TypeError('it is not a function')
    return (compiled[name] = made)
  }

  function textOf(error) {
    if (typeof error === 'object' && error !== null && typeof error.message === 'string')
      return toText(error.name) + ': ' + error.message
    return typeof error === 'object' ? stringify(error) : toText(error)
  }

  /** Calls it for each document; one for which it throws has a failure in place of its value. */
  function each(documentsText, run) {
    const outcomes = []
    for (const document of parse(documentsText)) {
      let outcome
      try {
        outcome = { value: run(document) }
      } catch (error) {
        outcome = { failure: { kind: 'failed', message: textOf(error).slice(0, 500) } }
      }
      outcomes[outcomes.length] = outcome
    }
    return outcomes
  }

  function rowsOf(map, document) {
    rows = []
    try {
      map(document)
      return rows
    } finally {
      rows = undefined
    }
  }

  const methods = {
    __proto__: null,
    check(run) { return true },
    map(run, documents) { return each(documents, (document) => rowsOf(run, document)) },
    emits(run, documents) { return each(documents, (document) => rowsOf(run, document).length > 0) },
    filter(run, documents, request) {
      const about = parse(request)
      return each(documents, (document) => !!run(document, about))
    },
    reduce(run, keys, values, rereduce) { return run(parse(keys), parse(values), rereduce === 'true') },
    validate(run, newDocument, oldDocument, user, security) {
      try {
        run(parse(newDocument), parse(oldDocument), parse(user), parse(security))
      } catch (error) {
        if (typeof error === 'object' && error !== null) {
          if ('forbidden' in error) return { forbidden: error.forbidden }
          if ('unauthorized' in error) return { unauthorized: error.unauthorized }
        }
        throw error
      }
      return null
    },
  }

  return function invoke(method, name, first, second, third, fourth) {
    lines = []
    const value = methods[method](functionOf(name), first, second, third, fourth)
    const text = stringify(value === undefined ? null : value)
    const answer = text === undefined ? 'null' : text
    if (answer.length > charsMax) throw new RangeError('the result has more than ' + charsMax + ' characters')
    return lines.length === 0 ? answer : '${LOG_MARK}' + stringify(lines) + '\n' + answer
  }
})`
