/**
 * Types of paths along relations; nothing of it is there at run time. To the compiler a field that holds an id also holds the related
 * document, so `author.name` is a path like any other.
 */
import type { Target } from '../../query/field-types.ts'
import type { Identified } from '../collection/document-types.ts'
import type { DocumentOf } from './standard-schema.ts'

/** The documents of a collection as queries see them: with those that relations lead to, forward and back. */
export type Related<Schemas extends object, Relations extends object, Name extends string> = Identified<
  keyof RelationsOf<Relations, Name> extends never ? DocumentOf<Schemas, Name> : WithTargets<Schemas, Relations, Name>
> &
  Back<Schemas, Relations, Name>

type WithTargets<Schemas extends object, Relations extends object, Name extends string> = {
  [Field in keyof DocumentOf<Schemas, Name>]:
    | DocumentOf<Schemas, Name>[Field]
    | (Field extends keyof RelationsOf<Relations, Name>
        ? TargetIn<Schemas, Relations, NameIn<RelationsOf<Relations, Name>[Field]>>
        : never)
}

type TargetIn<Schemas extends object, Relations extends object, Name extends string> = Related<
  Schemas,
  Relations,
  Name
> &
  Target<Related<Schemas, Relations, Name>>

type Back<Schemas extends object, Relations extends object, Name extends string> = {
  readonly [Path in BackName<Relations, Name>]?: Path extends `${infer From}_via_${string}`
    ? TargetIn<Schemas, Relations, From>
    : never
}

/** `posts_via_author` */
type BackName<Relations extends object, Name extends string> = {
  [From in keyof Relations & string]: {
    [Field in keyof RelationsOf<Relations, From> & string]: NameIn<RelationsOf<Relations, From>[Field]> extends Name
      ? `${From}_via_${Field}`
      : never
  }[keyof RelationsOf<Relations, From> & string]
}[keyof Relations & string]

type RelationsOf<Relations extends object, Name extends string> = Name extends keyof Relations
  ? Relations[Name] extends object
    ? Relations[Name]
    : Nothing
  : Nothing

type Nothing = Record<never, never>

/** The collection that a declared relation leads to. */
type NameIn<Relation> = Relation extends string
  ? Relation
  : Relation extends readonly [infer Name extends string]
    ? Name
    : Relation extends { readonly to: infer Name extends string }
      ? Name
      : never
