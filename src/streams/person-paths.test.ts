import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ownedCollections, personIdsIn, personPathsOf, personStreams } from './person-paths.ts'
import { streams } from './streams.ts'

it.each([...streams.keys()])('%s: each id of a person by its schema has a path', (stream) => {
  const schema = readFileSync(`schemas/${stream}.json`, 'utf8')
  const meant = schema.match(/"x-meaning": "(people|\{collection\})\.id"/g) ?? []
  expect(personPathsOf(stream).length).toBe(meant.length)
})

it('19 streams lead to a person', () => {
  expect([...personStreams().keys()]).toHaveLength(19)
  expect(personPathsOf('people')).toEqual([['id']])
  expect(personPathsOf('clockings')).toEqual([['person', 'id']])
  expect(personPathsOf('external_references')).toEqual([['internalReference']])
})

it('the references of contracts belong to a person, too', () => {
  expect(ownedCollections().map(({ collection }) => collection)).toEqual(['contracts'])
})

it.each<[string, unknown, string[]]>([
  ['people', { id: 42 }, ['42']],
  ['clockings', { id: 7, person: { id: 42 } }, ['42']],
  ['clockings', { id: 7, person: null }, []],
  ['clockings', { id: 7, Person: { ID: 42 }, person: null }, ['42']],
  ['external_references', { collection: 'people', internalReference: '42' }, ['42']],
  ['external_references', { collection: 'jobs', internalReference: '42' }, []],
])('%s: %j leads to %j', (stream, record, ids) => {
  expect(personIdsIn(record, personPathsOf(stream))).toEqual(ids)
})

it('a reference of a contract leads to a contract, and to no person', () => {
  const [reference, paths] = [
    { collection: 'contracts', internalReference: '42' },
    personPathsOf('external_references'),
  ]
  expect(personIdsIn(reference, paths)).toEqual([])
  expect(personIdsIn(reference, paths, 'contracts')).toEqual(['42'])
  expect(personIdsIn({ person: { id: 42 } }, personPathsOf('clockings'), 'contracts')).toEqual([])
})
