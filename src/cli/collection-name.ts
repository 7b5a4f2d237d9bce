/** The service's name of a collection, also where a stream's was given: `access-clockings`. */
export function collectionName(text: string): string {
  return text.trim().replaceAll('_', '-')
}
