import { expect, it } from 'vitest'
import { memberText } from './member-text.ts'

it.each<[string, string | undefined]>([
  ['{"type":"STATE","value":{"at":12345678901234567890}}', '{"at":12345678901234567890}'],
  ['{"value": 1.0 , "other":{"value":2}}', '1.0'],
  ['{"other":{"value":2},"list":[{"value":3}]}', undefined],
  ['{"value":"a \\"quoted\\" {text}, with \\\\"}', '"a \\"quoted\\" {text}, with \\\\"'],
  ['{"v\\u0061lue":[1,[2,{}]],"x":1}', '[1,[2,{}]]'],
  ['{"value":1,"value":2}', '2'],
  ['{"x":"value"}', undefined],
  ['{}', undefined],
])('the text of the member "value" of %s is %s', (json, text) => {
  expect(memberText(json, 'value')).toBe(text)
})
