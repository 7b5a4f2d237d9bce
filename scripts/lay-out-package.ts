import { layOutPackage } from './package-tree.ts'

/** `node dist/scripts/lay-out-package.js FOLDER`, for the Dockerfile. */
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Name the folder to lay the package out in.')
layOutPackage(folder)
