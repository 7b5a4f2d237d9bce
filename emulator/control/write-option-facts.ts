import type { WriteOptions } from '../writes/write-options.ts'
import type { OptionFacts } from './option-values.ts'

/** What the texts leave open about writing, by option. */
export const writeOptionFacts: Readonly<Record<keyof WriteOptions, OptionFacts>> = {
  secondValue: {
    text: 'a second value for a record that has one under the same reference name: takes its place, or is a 400',
    takes: ['replaces', 'conflict'],
  },
  unknownRecord: {
    text: 'a reference for an id that no record has: 404, 400, or accepted',
    takes: ['not-found', 'not-valid', 'accepted'],
  },
  numericReference: {
    text: 'an `internalReference` that is a number, not a text',
    takes: ['refused', 'taken'],
  },
  referenceAnswer: {
    text: 'body of the answer to the PUT of a reference',
    takes: ['empty', 'reference'],
  },
  unknownValue: {
    text: 'the DELETE of a reference that is not registered: 404 or 204',
    takes: ['not-found', 'no-content'],
  },
  deletedRecord: {
    text: 'a record that is deleted: keeps its custom references, whose values stay taken, or frees them',
    takes: ['keeps', 'frees'],
  },
  unknownName: {
    text: 'the list of a reference name that nothing is registered under: empty, or 404',
    takes: ['empty', 'not-found'],
  },
  referenceList: {
    text: 'body of a list of references: a page, an array of all, or a map of names, values and ids',
    takes: ['page', 'array', 'map'],
  },
  referenceCase: {
    text: 'whether values of references that differ in case alone are different',
    takes: ['sensitive', 'insensitive'],
  },
  referenceChange: {
    text: 'what gets a new `changeVersion` when a reference changes: nothing, the record, or all that refer to it too',
    takes: ['nothing', 'record', 'referring'],
  },
  leftOut: {
    text: 'the fields that the PUT of a job category leaves out',
    takes: ['emptied', 'kept'],
  },
  equalPut: {
    text: 'a PUT of a job category that changes nothing: gives a new version, or does nothing',
    takes: ['version', 'nothing'],
  },
  upsert: {
    text: 'the PUT of a job category with a reference that is not registered creates one (201), and is no 404',
    takes: 'switch',
  },
  etags: {
    text: 'single records have an `ETag`, and the PUT of a job category heeds `If-Match`',
    takes: 'switch',
  },
  staleEtag: {
    text: 'a PUT whose `If-Match` names another version: 412 or 409',
    takes: ['precondition-failed', 'conflict'],
  },
  translationKeys: {
    text: 'keys of translations, in records and valid in bodies: languages (`nl`), or cultures too (`nl-BE`)',
    takes: ['languages', 'cultures'],
  },
  emptyName: {
    text: 'an empty `name.default` in a body',
    takes: ['refused', 'accepted'],
  },
  codeLength: {
    text: 'what the 50 characters of an `externalCode` count',
    takes: ['characters', 'utf-16'],
  },
  location: {
    text: 'form of the header `Location`',
    takes: ['relative', 'absolute'],
  },
  identifierInBody: {
    text: 'an `externalReferenceIdentifier` in the body of a new work location: ignored, or 400',
    takes: ['ignored', 'refused'],
  },
  validationItems: {
    text: 'the items of `validationErrors`: objects with `property` and `message`, or texts',
    takes: ['objects', 'texts'],
  },
}
