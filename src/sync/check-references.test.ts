import { describe, expect, it } from 'vitest'
import { type Received, reply } from '../http/testing/http-service.ts'
import { COUNT, check, page, type Respond, status } from './testing/checked-service.ts'

const references = (collection: string, ...names: string[]) => ({
  external_references: [{ collection, names }],
})

describe('an external reference', () => {
  const refuses =
    (...names: string[]): Respond =>
    (response, { url }) =>
      names.some((name) => decodeURIComponent(url).includes(`,${name})`))
        ? reply(response, 400, { message: 'No' })
        : page(response, { url } as Received)

  it('that the service refuses is named, with the setting to correct', async () => {
    const { isUsable, message } = await check({
      all: refuses('@badge'),
      settings: references('people', '@badge'),
    })
    expect(isUsable).toBe(true)
    expect(message).toMatch(
      /Not readable: absences, .*people.* \(the service refuses the external reference @badge of people; correct external_references\)\.$/,
    )
  })

  it('is told apart from its neighbours', async () => {
    const { message } = await check({
      all: refuses('@badge'),
      settings: references('people', '@employee-number', '@badge'),
    })
    expect(message).toContain('the external reference @badge of people;')
    expect(message).not.toContain('@employee-number')
  })

  it('is not blamed for a request that is refused without it, too', async () => {
    const { message } = await check({
      api: { '/people': status(400, { message: 'No' }) },
      settings: references('people', '@badge-number'),
    })
    expect(message).toContain(
      'Not readable: people (400: the service does not accept the request: No).',
    )
  })

  it.each([
    ['an empty list', status(200, '[]')],
    ['an empty page', status(200, '{"value":[]}')],
    ['404', status(404)],
  ])('of which the service holds none (%s) is named', async (_, none) => {
    const { isUsable, message } = await check({
      api: { '/external-references/people/hr-id': none },
      settings: references('people', 'hr-id'),
    })
    expect([isUsable, message]).toEqual([
      true,
      `${COUNT} of ${COUNT} streams can be read. The service holds no external reference hr-id of people: external_references adds nothing by that name.`,
    ])
  })

  it.each([
    ['with values', status(200, { value: [{ referenceName: 'hr-id', externalReference: '1' }] })],
    ['in a form that nobody knows', status(200, '{"count":0}')],
    ['that may not be asked for', status(403)],
  ])('%s is left alone', async (_, answer) => {
    const { message } = await check({
      api: { '/external-references/people/hr-id': answer },
      settings: references('people', 'hr-id'),
    })
    expect(message).toBe(`${COUNT} of ${COUNT} streams can be read.`)
  })
})
