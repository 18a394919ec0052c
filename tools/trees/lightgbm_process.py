"""Trains LightGBM's lambdarank through its C interface. A process that does nothing else is easy to
measure. Usage: lightgbm_process.py LIBRARY DATA MODEL TREES PARAMETERS, where DATA is a text or
binary file.
"""

import ctypes
import sys

library, data, model, trees, parameters = sys.argv[1:]
lightgbm = ctypes.CDLL(library)
lightgbm.LGBM_GetLastError.restype = ctypes.c_char_p


def call(name, *arguments):
    if getattr(lightgbm, name)(*arguments) != 0:
        sys.exit(lightgbm.LGBM_GetLastError().decode())


parameters = (parameters + " objective=lambdarank verbosity=-1").encode()
dataset, booster, done = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
call("LGBM_DatasetCreateFromFile", data.encode(), parameters, None, ctypes.byref(dataset))
call("LGBM_BoosterCreate", dataset, parameters, ctypes.byref(booster))
for _ in range(int(trees)):
    call("LGBM_BoosterUpdateOneIter", booster, ctypes.byref(done))
call("LGBM_BoosterSaveModel", booster, 0, -1, 0, model.encode())
