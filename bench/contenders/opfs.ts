/** The folder of the origin private file system that contenders use: whoever cleans up after them removes this one alone. */
export const OPFS_FOLDER = 'pannier-bench-sqlite'
