/** The folder of the origin private file system that contenders use. Cleaning up removes only this folder. */
export const OPFS_FOLDER = 'pannier-bench-sqlite'
