"""WorkBench: requests fulfilled with tools in a workplace, judged by the state they leave (Styles et
al., 2024).
"""
