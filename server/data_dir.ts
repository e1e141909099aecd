/** The folder of the embedded database where DATA_DIR is unset. It stands alone, so that the launcher loads no library for it. */
export const DATA_DIR_DEFAULT = ".data";
