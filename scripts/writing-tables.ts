import { writeSettingsSchema } from '../src/config/write-settings.ts'
import { settingRows } from '../src/protocol/singer/setting-rows.ts'
import { objects } from '../src/write/objects.ts'
import { markdown } from './markdown-table.ts'

/** What can be written, and within which limits. */
export function objectTable(): string {
  const rows = Object.entries(objects).map(([name, object]) => [
    code(name),
    object.keys.map((key) => key.map(code).join(', ')).join(' or '),
    Object.keys(object.properties).map(code).join(', '),
    object.requests,
    object.limits.join('; '),
    object.scopes.map((scope) => code(`connector-<api>-${scope}`)).join(', '),
  ])
  return markdown(['Object', 'Key', 'Members', 'Requests', 'Limits', 'Scopes'], rows)
}

/** The settings that only writing heeds. */
export function writeSettingTable(): string {
  const rows = settingRows(writeSettingsSchema()).map(({ path, fallback, text }) => [
    code(path),
    fallback,
    text,
  ])
  return markdown(['Setting', 'Default', 'Meaning'], rows)
}

function code(text: string): string {
  return `\`${text}\``
}
